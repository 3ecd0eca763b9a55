import { describe, expect, it } from 'vitest';
import { countOutcome, watchReturnRates } from '../../../src/app/return-meters.ts';
import type { AchCounts } from '../../../src/domain/ach/return-rates.ts';
import type { SubscriptionId } from '../../../src/domain/subscription.ts';
import type { Log } from '../../../src/ports/log.ts';
import { notedLog } from '../../support/noted-log.ts';
import { at } from '../../support/records.ts';

const few: AchCounts = { debits: 10, returns: { unauthorized: 1, administrative: 0, overall: 1 } };
const good: AchCounts = { debits: 2_000, returns: { unauthorized: 1, administrative: 5, overall: 60 } };
const bad: AchCounts = { debits: 2_000, returns: { unauthorized: 11, administrative: 5, overall: 70 } };

function watch(...seen: AchCounts[]) {
  const shown: [string, number | null][] = [];
  const warned: object[] = [];
  const asked: string[][] = [];
  const log = { warn: (fields: object) => void warned.push(fields) } as unknown as Log;
  const look = watchReturnRates({
    pipeline: {
      meters: {
        add: () => Promise.reject(new Error('only reads')),
        total: (from, to) => (asked.push([from, to]), Promise.resolve(seen.shift()!)),
      },
    },
    clock: { now: () => at('2026-11-30T08:00:00Z') },
    log,
    metrics: { achReturnRate: (name, rate) => void shown.push([name, rate]) },
  });
  return { look, shown, warned, asked };
}

describe('a look at the return rates', () => {
  it('is over sixty days, today included, and shows every class', async () => {
    const { look, shown, warned, asked } = watch(good);
    await look();
    expect(asked).toEqual([['2026-10-02', '2026-11-30']]);
    expect(shown).toEqual([
      ['unauthorized', 0.0005],
      ['administrative', 0.0025],
      ['overall', 0.03],
    ]);
    expect(warned).toEqual([]);
  });

  it('shows nothing where there are too few debits', async () => {
    const { look, shown, warned } = watch(few);
    await look();
    expect(shown.map(([, rate]) => rate)).toEqual([null, null, null]);
    expect(warned).toEqual([]);
  });

  it('warns when a limit comes to be exceeded, and again only after it was kept for a while', async () => {
    const { look, warned } = watch(bad, bad, good, bad);
    await look();
    expect(warned).toEqual([{ class: 'unauthorized', rate: 0.0055, limit: 0.005 }]);
    await look();
    expect(warned).toHaveLength(1);
    await look();
    await look();
    expect(warned).toHaveLength(2);
  });
});

describe('an outcome that cannot be counted', () => {
  it('stands, and the log says that the rates lack it', async () => {
    const { log, lines } = notedLog();
    const meters = {
      add: () => Promise.reject(new Error('throttled')),
      total: () => Promise.reject(new Error('only counts')),
    };
    const clock = { now: () => at('2026-11-30T08:00:00Z') };
    await countOutcome(
      { pipeline: { meters }, clock, log },
      'record-1' as SubscriptionId,
      { result: 'RETURNED', returnCode: 'R01' } as Parameters<typeof countOutcome>[2],
      true,
    );
    expect(lines).toMatchObject([{ level: 'error', fields: { subscriptionId: 'record-1' } }]);
  });
});
