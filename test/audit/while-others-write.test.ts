import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditTables } from '../../src/audit/source.ts';
import type { Float } from '../../src/domain/floats/float.ts';
import { plusMs } from '../../src/domain/instant.ts';
import type { StoredSubscription } from '../../src/ports/subscriptions.ts';
import type { FloatDesk } from '../support/float-desk.ts';
import { floatDesk } from '../support/float-desk.ts';
import type { Bench } from './bench.ts';
import { auditOf, bench, changed } from './bench.ts';

let on: Bench;
let desk: FloatDesk;

beforeAll(async () => {
  on = await bench();
  desk = floatDesk(on.here);
});
afterAll(() => on.close());

/** A legal change: the row gets a new stamp and a history row. */
async function touch(record: StoredSubscription): Promise<void> {
  on.here.now = plusMs(on.here.now, 1);
  await on.change(record, 'support-changed', { updatedEvent: `at-${on.here.now}` });
}

/** The tables, with somebody who writes just before this user's history is read. */
function disturbed(record: StoredSubscription, times: number): { tables: AuditTables; looks: () => number } {
  let looks = 0;
  const tables = new Proxy(on.source.tables, {
    get(target, name) {
      if (name !== 'historyOf') return (target[name as keyof AuditTables] as () => unknown).bind(target);
      return async (userId: string) => {
        if (userId === record.userId && (looks += 1) <= times) await touch(record);
        return target.historyOf(userId);
      };
    },
  });
  return { tables, looks: () => looks };
}

/** The tables, with somebody who charges this float, in vain, just before its log is read. */
function disturbedFloat(float: Float, times: number): { tables: AuditTables; looks: () => number } {
  let looks = 0;
  const tables = new Proxy(on.source.tables, {
    get(target, name) {
      if (name !== 'logOf') return (target[name as keyof AuditTables] as () => unknown).bind(target);
      return async (floatId: string) => {
        if (floatId === float.floatId && (looks += 1) <= times) await desk.collect('SUPPORT', float);
        return target.logOf(floatId);
      };
    },
  });
  return { tables, looks: () => looks };
}

const auditDisturbed = (tables: AuditTables) => auditOf({ ...on.source, tables }, { now: on.here.now });

describe('when somebody writes between two reads of the audit', () => {
  it('it looks again and raises no false alarm', async () => {
    const { tables, looks } = disturbed(await on.here.member(), 2);
    const { violations, totals } = await auditDisturbed(tables);
    expect(violations).toEqual([]);
    expect(totals.unsettled).toBe(0);
    expect(looks()).toBe(3);
  });

  it('what is wrong all the same is reported once it stands still', async () => {
    const record = await on.here.member();
    const [born] = await on.history(record);
    await on.put('history', changed(born!, { billing_status: 'ERROR' }));
    const { violations } = await auditDisturbed(disturbed(record, 2).tables);
    expect(violations).toEqual([
      expect.objectContaining({ rule: 4, subscription_id: record.subscriptionId }),
    ]);
    await on.put('history', born!);
  });

  it('a user who never stands still is counted, not accused', async () => {
    const { tables } = disturbed(await on.here.member(), Number.POSITIVE_INFINITY);
    const { violations, totals } = await auditDisturbed(tables);
    expect(violations).toEqual([]);
    expect(totals.unsettled).toBe(1);
  });
});

describe('when a float is charged between two reads of the audit', () => {
  const declines = { pinless: { mode: 'decline', code: '14' } };

  it('it looks again and raises no false alarm', async () => {
    const { tables, looks } = disturbedFloat(await desk.float(declines), 2);
    const { violations, totals } = await auditDisturbed(tables);
    expect(violations).toEqual([]);
    expect(totals.unsettled).toBe(0);
    expect(looks()).toBe(3);
  });

  it('one that never stands still is counted, not accused', async () => {
    const { tables } = disturbedFloat(await desk.float(declines), Number.POSITIVE_INFINITY);
    const { violations, totals } = await auditDisturbed(tables);
    expect(violations).toEqual([]);
    expect(totals.unsettled).toBe(1);
  });
});

it('auditing while members are charged raises no false alarm', async () => {
  const members = await Promise.all(Array.from({ length: 8 }, () => on.here.member()));
  const floats = await Promise.all(Array.from({ length: 8 }, () => desk.float()));
  const writer = { isOver: false };
  const charging = (async () => {
    for (const [i, member] of members.entries()) {
      await on.here.collect('INITIAL', member);
      await desk.collect('TODAY6AM', floats[i]!);
      await touch((await on.here.partition(member.userId)).at(-1)!);
    }
    writer.isOver = true;
  })();
  let audits = 0;
  for (; !writer.isOver; audits += 1) expect((await on.audit()).violations).toEqual([]);
  await charging;
  expect(audits).toBeGreaterThan(1);
  const { violations, totals } = await on.audit();
  expect(violations).toEqual([]);
  expect(totals.debits).toBe(16);
});
