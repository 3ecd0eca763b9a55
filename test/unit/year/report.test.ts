import { describe, expect, it } from 'vitest';
import type { Violation } from '../../../src/audit/violation.ts';
import { yearFigures } from '../../../year/figures/figures.ts';
import type { Stored } from '../../../year/figures/figures.ts';
import { yearPage } from '../../../year/report/page.ts';
import { change, date, making, movement, run, totals } from './sample.ts';

const NOTHING: Stored = { movements: [], changes: [], runs: [], readings: [] };

const pageOf = (
  stored: Partial<Stored>,
  { violations = [] as Violation[], seed = '1', unsettled = 0 } = {},
): string =>
  yearPage({
    figures: yearFigures({ ...NOTHING, ...stored }, date('2030-01-01'), date('2030-03-01')),
    audited: { violations, totals: { ...totals, violations: violations.length, unsettled } },
    making: { ...making, seed },
  });

const violation: Violation = {
  rule: 1,
  user_id: 'year-000001',
  subscription_id: 's1',
  detail: 'two debits stand',
};

const plotOf = (page: string, id: string): string =>
  new RegExp(`id="${id}-title"(.*?)</svg>`, 's').exec(page)?.[1] ?? '';

/** What stands beside the axis, from the bottom up. */
function axisNumbers(page: string, id: string): string[] {
  const texts = [...plotOf(page, id).matchAll(/text-anchor="end"\s*>([^<]*)</g)].map(([, text = '']) => text);
  return texts.filter((text) => text !== '');
}

describe('the page of the year', () => {
  it('needs nothing from anywhere', () => {
    const page = pageOf({});
    expect(page).not.toMatch(/\b(src|href)=|url\(|@import|<script|<link/);
    expect(page).toMatch(/^<!doctype html>/);
  });

  it('says how much time it is about, and how to have it again', () => {
    const page = pageOf({});
    expect(page).toContain('<title>2 months of collections</title>');
    expect(page).toContain('npm run demo -- --users 2 --seed 1 --months 2');
  });

  it('has whole pictures also when nothing happened', () => {
    const page = pageOf({});
    expect(page).not.toMatch(/NaN|Infinity|undefined|null/);
    expect(page).toContain('$0.00');
  });

  it('has a bar of no height for a month without money', () => {
    const page = pageOf({ movements: [movement('debit', '2030-01-20T08:00:00Z', 'a')] });
    expect(page).toContain('Jan 2030: $4.99 by card, $0.00 by ACH; $0.00 given back since');
    expect(page).toContain('Feb 2030: $0.00 by card, $0.00 by ACH; $0.00 given back since');
    const [, plot = ''] = /id="money-plot-title"(.*?)<\/svg>/s.exec(page) ?? [];
    expect([...plot.matchAll(/class="fill-/g)]).toHaveLength(1);
  });

  it('tells what became of failed first attempts, of members and of runs', () => {
    const page = pageOf({
      changes: [
        change('2030-01-10T08:00:00Z', 'ERROR', 'balance-refused'),
        change('2030-01-12T07:00:00Z', 'COMPLETED', 'attempt-succeeded'),
        change('2030-01-10T08:00:01Z', 'SCHEDULED', '', { subscriptionId: 's2' }),
      ],
      runs: [run('retry', '2030-02-12T07:00:00Z', { collected: { count: 7, amount: 3493, reasons: {} } })],
    });
    expect(page).toContain('1 of 1 that failed at first');
    expect(page).toContain('100 % within 2 days');
    expect(page).toContain('End of Feb 2030: active 1;');
    expect(page).toContain('Feb 2030: collected 7,');
  });

  it('draws the share of returns beside its limit, once there are enough debits', () => {
    const returns = { unauthorized: 1, administrative: 0, overall: 4 };
    const page = pageOf({
      readings: [
        { date: date('2030-01-06'), counts: { debits: 2, returns } },
        { date: date('2030-01-13'), counts: { debits: 100, returns } },
        { date: date('2030-01-20'), counts: { debits: 200, returns } },
      ],
    });
    expect(page).toContain('limit 15.00 %');
    expect(page).toContain('13 Jan 2030: 4.00 %, 4 returns of 100 debits');
    const [, plot = ''] = /id="returns-overall-title"(.*?)<\/svg>/s.exec(page) ?? [];
    const [, points = ''] = /polyline[^>]*points="([^"]*)"/s.exec(plot) ?? [];
    expect(points.trim().split(' ')).toHaveLength(2);
  });

  it('calls returns over the limit only where the pipeline would', () => {
    const badgesOf = (debits: number): string[] => {
      const counts = {
        debits,
        returns: { unauthorized: debits / 50, administrative: 0, overall: debits / 50 },
      };
      const page = pageOf({ readings: [{ date: date('2030-01-06'), counts }] });
      return [...page.matchAll(/class="pill[^>]*>([^<]*)/g)].map(([, text = '']) => text);
    };
    expect(badgesOf(50)).toEqual(['too few debits to tell', 'too few debits to tell']);
    expect(badgesOf(1_000)).toEqual(['over the limit']);
  });

  it('draws pale what cannot be told, and names the few returns instead of their share', () => {
    const returns = { unauthorized: 1, administrative: 0, overall: 4 };
    const page = pageOf({ readings: [{ date: date('2030-01-06'), counts: { debits: 43, returns } }] });
    const text = page.replaceAll(/\s+/g, ' ');
    expect(text).toContain('at most 1 of 43 debits, limit 0.50 %');
    expect(text).not.toContain('at most 2.33 %');
    expect(text).toContain('at most 9.30 %, limit 15.00 %');
    const isPale = (name: string): boolean => plotOf(page, `returns-${name}`).includes('class="pale"');
    expect(['unauthorized', 'administrative', 'overall'].map(isPale)).toEqual([true, true, false]);
  });

  it('writes the shares beside an axis with as many decimals each', () => {
    const returns = { unauthorized: 1, administrative: 1, overall: 4 };
    const page = pageOf({ readings: [{ date: date('2030-01-06'), counts: { debits: 43, returns } }] });
    expect(axisNumbers(page, 'returns-unauthorized').slice(0, 3)).toEqual(['0.0 %', '1.5 %', '3.0 %']);
    expect(axisNumbers(page, 'returns-overall').slice(0, 3)).toEqual(['0.0 %', '15.0 %', '30.0 %']);
  });

  it('knows of no share of returns without debits', () => {
    const page = pageOf({});
    expect(page).toContain('–, limit 0.50 %');
    expect(page).not.toContain('at most');
    expect([...page.matchAll(/too few debits to tell/g)]).toHaveLength(3);
  });

  it('draws no share of recovered attempts when none has failed', () => {
    const page = pageOf({});
    expect(page).toContain('No first attempt failed, so there was nothing to recover.');
    expect(page).not.toContain('curve-plot');
  });

  it('has whole members and periods on its axes', () => {
    const page = pageOf({
      changes: [
        change('2030-01-10T08:00:00Z', 'ERROR', 'balance-refused'),
        change('2030-01-10T08:00:01Z', 'SCHEDULED', '', { subscriptionId: 's2' }),
      ],
    });
    for (const id of ['members-plot', 'recovery-plot', 'outcomes-plot'])
      expect(axisNumbers(page, id)).toEqual(['0', '1', '2']);
  });

  it('is as wide for two months as for twelve, so that letters stay small', () => {
    const widths = [...pageOf({}).matchAll(/viewBox="0 -\d+ (\d+) /g)].map(([, width]) => width);
    expect(new Set(widths)).toEqual(new Set(['548', '360']));
  });

  it('says in a sentence that the audit found nothing, and what it looked at', () => {
    const page = pageOf({});
    expect(page).toContain('The audit found nothing wrong.');
    expect(page.replaceAll(/\s+/g, ' ')).toContain('5 attempts against 6 debits in the bank’s ledger');
  });

  it('names what the audit found, and what it could not settle', () => {
    const page = pageOf({}, { violations: [violation] });
    expect(page).toContain('The audit found 1 violation of what must always hold.');
    expect(page).toContain('two debits stand');
    expect(pageOf({}, { unsettled: 2 })).toContain(
      'The audit could not settle 2 of those whom it looked at.',
    );
  });

  it('shows no more than fifty violations, and says how many more there are', () => {
    const page = pageOf({}, { violations: Array.from({ length: 61 }, () => violation) });
    expect([...page.matchAll(/two debits stand/g)]).toHaveLength(50);
    expect(page).toContain('and 11 more');
  });

  it('escapes whatever it is told', () => {
    const page = pageOf(
      {},
      { violations: [{ ...violation, detail: '<script>alert(1)</script>' }], seed: '"><b>' },
    );
    expect(page).not.toContain('<script>');
    expect(page).not.toContain('"><b>');
    expect(page).toContain('&lt;script&gt;');
  });
});
