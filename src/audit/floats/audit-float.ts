import { isDeepStrictEqual } from 'node:util';
import { FreezeLog } from '../freezes.ts';
import { LOOKS } from '../second-look.ts';
import type { AuditTables, PlainItem } from '../source.ts';
import type { Tally } from '../tally.ts';
import { readAll } from '../user-case.ts';
import type { Violation } from '../violation.ts';
import type { FloatCase, FloatCircumstances } from './float-case.ts';
import { readFloatCase } from './float-case.ts';
import { ownerOfOpenSet, readOpenSet, recordIdOf } from './float-record.ts';
import { floatViolationsOf } from './rules.ts';

export interface AuditedFloat {
  readonly subscriptionId: string;
  readonly attempts: number;
  /** Null: it looked wrong and changed at every look. */
  readonly violations: readonly Violation[] | null;
}

export async function auditFloat(
  tables: AuditTables,
  item: PlainItem,
  money: ReadonlyMap<string, Tally>,
  circumstances: FloatCircumstances,
): Promise<AuditedFloat> {
  const float = await readFloatCase(tables, item, money);
  const { subscriptionId, attempts } = float;
  const suspected = floatViolationsOf(float, circumstances);
  const violations = suspected.length === 0 ? [] : await lookAgain(tables, float, money, circumstances);
  return { subscriptionId, attempts: attempts.length, violations };
}

/**
 * Looks again at a float that seemed to break a rule; see `second-look.ts`. A float is stamped by whatever changes it, its
 * log, its attempts or its place in the set, in one transaction. Read as part of a transaction it shows that none is under
 * way; so if it is the same before and after, everything that was read in between is of one moment.
 */
async function lookAgain(
  tables: AuditTables,
  { floatId }: FloatCase,
  money: ReadonlyMap<string, Tally>,
  circumstances: FloatCircumstances,
): Promise<readonly Violation[] | null> {
  for (let look = 1; look <= LOOKS; look += 1) {
    const item = await settled(tables, floatId);
    if (item === undefined) continue;
    const float = await readFloatCase(tables, item, money);
    const freezes = await FreezeLog.read(tables.freezeLog());
    const violations = floatViolationsOf(float, { ...circumstances, freezes });
    if (violations.length === 0 || isDeepStrictEqual(item, await settled(tables, floatId))) return violations;
  }
  return null;
}

/** Undefined: another process was writing it just now. */
const settled = async (tables: AuditTables, floatId: string): Promise<PlainItem | undefined> =>
  (await tables.readTogether([{ table: 'floats', floatId }]))?.[0];

/**
 * What is in a user's set of open floats and is no float of theirs. A float that is there is asked itself. No second
 * look: a float comes into the set when it is made and is never taken away.
 */
export async function floatsInSetAlone(tables: AuditTables, item: PlainItem): Promise<Violation[]> {
  const violations: Violation[] = [];
  const userId = ownerOfOpenSet(item) ?? '?';
  const note = (floatId: string, detail: string) =>
    violations.push({ rule: 9, user_id: userId, subscription_id: recordIdOf(floatId), detail });
  for (const { floatIds } of readAll([item], readOpenSet, (_, detail) => note('?', detail))) {
    for (const floatId of floatIds) {
      const float = await tables.floatOf(floatId);
      if (float?.['user_id'] !== userId)
        note(floatId, 'is among the open floats of a user who does not have it');
    }
  }
  return violations;
}
