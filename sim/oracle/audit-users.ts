import { FreezeLog } from '../../src/audit/freezes.ts';
import { violationsOf } from '../../src/audit/rules.ts';
import type { AuditTables } from '../../src/audit/source.ts';
import type { Tally } from '../../src/audit/tally.ts';
import { readUser } from '../../src/audit/user-case.ts';
import type { RuleNumber } from '../../src/audit/violation.ts';
import type { Money } from './money-checks.ts';
import type { Report } from './verdict.ts';

/** What the bank moved, added up as the audit wants it. */
export class BankTallies {
  private readonly tallies = new Map<string, Tally>();

  add({ effect, key, userId, reference, cents, atMs }: Money): void {
    const tally = this.tallies.get(reference) ?? { userId, debitedCents: 0, creditedCents: 0, keys: [] };
    this.tallies.set(reference, tally);
    let ofKey = tally.keys.find((one) => one.key === key);
    if (ofKey === undefined) {
      ofKey = { key, debits: 0, credits: 0, firstDebitAt: null };
      tally.keys.push(ofKey);
    }
    if (effect === 'debit') {
      tally.debitedCents += cents;
      ofKey.debits += 1;
      ofKey.firstDebitAt ??= BigInt(Math.floor(atMs)) * 1_000_000n;
    } else {
      tally.creditedCents += cents;
      ofKey.credits += 1;
    }
  }

  get all(): ReadonlyMap<string, Tally> {
    return this.tallies;
  }
}

/**
 * A debit with when its attempt was opened, an intent with when a freeze began and when the attempt before it ended. Where
 * clocks are off these rightly say that times do not fit, and are not heard: the oracle, which has one clock, asks the same.
 */
const COMPARE_CLOCKS: readonly RuleNumber[] = [2, 6];

/**
 * The audit's rules on some users. The same rules that are run on live data, which share no code with what they check: here
 * nobody writes meanwhile, so the first look is the last.
 */
export async function auditUsers(
  tables: AuditTables,
  userIds: Iterable<string>,
  parts: {
    readonly money: ReadonlyMap<string, Tally>;
    readonly nowMs: number;
    readonly abandonAfterMs: number;
    readonly doClocksAgree: boolean;
    readonly report: Report;
  },
): Promise<void> {
  const freezes = await FreezeLog.read(tables.freezeLog());
  const now = BigInt(Math.floor(parts.nowMs)) * 1_000_000n;
  const circumstances = { now, abandonAfterMs: parts.abandonAfterMs, isLedgerRead: true, freezes };
  for (const userId of userIds) {
    const user = await readUser(tables, userId, await tables.rowsOf(userId), parts.money);
    for (const found of violationsOf(user, circumstances)) {
      if (!parts.doClocksAgree && COMPARE_CLOCKS.includes(found.rule)) continue;
      parts.report({
        rule: `${found.rule} (audit)`,
        userId,
        recordId: found.subscription_id,
        detail: found.detail,
      });
    }
  }
}
