import { describe, expect, it } from 'vitest';
import type { Instant } from '../../../src/domain/instant.ts';
import { plusDays, plusNanos } from '../../../src/domain/instant.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import { BILLING_PROCESSES, dueRange, isInRange } from '../../../src/domain/runs.ts';
import type { BillingStatus } from '../../../src/domain/subscription.ts';
import { BILLING_STATUSES } from '../../../src/domain/subscription.ts';
import { at, subscription } from '../../support/records.ts';

const TICK = at('2026-11-16T08:00:00Z');
const CUT = plusDays(TICK, -30);
const before = (instant: Instant): Instant => plusNanos(instant, -1n);
const after = (instant: Instant): Instant => plusNanos(instant, 1n);

const runsOver = (billingStatus: BillingStatus, billingDate: Instant): string[] =>
  ([...BILLING_PROCESSES, 'notify'] as const).filter((process) =>
    isInRange(dueRange(process, TICK, DEFAULT_POLICY), subscription({ billingStatus, billingDate })),
  );

describe('a record is due for', () => {
  it.each<[BillingStatus, string, Instant, string[]]>([
    ['SCHEDULED', 'before the tick', before(TICK), ['scheduled']],
    ['SCHEDULED', 'at the tick', TICK, []],
    ['SCHEDULED', 'just before the fourth day after the tick’s', before(at('2026-11-20T00:00:00Z')), []],
    ['SCHEDULED', 'when the fourth day begins', at('2026-11-20T00:00:00Z'), ['notify']],
    ['SCHEDULED', 'when it ends', before(at('2026-11-21T00:00:00Z')), ['notify']],
    ['SCHEDULED', 'when it is over', at('2026-11-21T00:00:00Z'), []],
    ['PAUSED', 'on the fourth day after the tick’s', at('2026-11-20T06:00:00Z'), []],
    ['PAUSED', 'before the tick', before(TICK), ['pause']],
    ['PAUSED', 'at the tick', TICK, []],
    ['ERROR', 'after the cut', after(CUT), ['retry']],
    ['ERROR', 'at the cut', CUT, ['stale']],
    ['ERROR', 'before the cut', before(CUT), ['stale']],
  ])('%s %s', (status, _, date, runs) => {
    expect(runsOver(status, date)).toEqual(runs);
  });

  it('no run in any other status', () => {
    const others = BILLING_STATUSES.filter((status) => !['SCHEDULED', 'PAUSED', 'ERROR'].includes(status));
    for (const status of others)
      for (const date of [before(CUT), CUT, after(CUT), before(TICK)])
        expect(runsOver(status, date)).toEqual([]);
  });
});
