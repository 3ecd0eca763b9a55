import { z } from 'zod';
import type { Instant } from '../calendar/new-york-time.ts';
import type { Journal } from '../journal.ts';
import { Problem } from '../problem.ts';
import { instantText, sandboxInstant, withinSandboxTime } from './instant-text.ts';

export const clockSetting = z.strictObject({
  /** null gives the clock back to the system's time. */
  now: sandboxInstant.nullable(),
  frozen: z.boolean().default(false),
});

const UNIT_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000 };

function durationMs(text: string): number {
  const parts = [...text.matchAll(/(\d+)([dhms])/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNIT_MS[unit ?? ''] ?? 0), 0);
}

export const clockAdvance = z.strictObject({
  by: z.string().regex(/^(\d{1,7}[dhms]){1,4}$/, 'must be a duration such as "1d", "12h" or "1d12h"'),
});

/** What was charged at a later time cannot be unmade by turning the clock back. */
function refuseThePast(journal: Journal, target: Instant): void {
  const { clock, payments } = journal.books;
  if (payments.size === 0 || target >= clock.latestEntryAt) return;
  const latest = instantText(clock.latestEntryAt);
  throw new Problem(
    409,
    'clock_cannot_go_back',
    `the ledger holds payments and its newest entry is of ${latest}; set the clock to that or later`,
  );
}

export function setClock(journal: Journal, now: Instant, setting: z.infer<typeof clockSetting>): void {
  const system = Date.now();
  const target = setting.now === null ? system : Date.parse(setting.now);
  refuseThePast(journal, target);
  journal.record(now, {
    type: 'clock.set',
    now: instantText(target),
    frozen: setting.frozen,
    system_time: instantText(system),
    ...(setting.now === null && !setting.frozen && { system: true }),
  });
}

export function advanceClock(journal: Journal, now: Instant, by: string): void {
  const target = now + durationMs(by);
  if (!withinSandboxTime(target)) {
    throw new Problem(400, 'invalid_request', 'by: leads beyond the year 2100', [
      { field: 'by', message: 'leads beyond the year 2100' },
    ]);
  }
  journal.record(now, {
    type: 'clock.advanced',
    by,
    now: instantText(target),
    frozen: journal.books.clock.frozen,
    system_time: instantText(Date.now()),
  });
}
