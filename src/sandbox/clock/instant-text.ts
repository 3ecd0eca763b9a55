import { z } from 'zod';

// A calendar that reaches further would only hide typing errors such as the year 20226.
const EARLIEST = Date.parse('2000-01-01T00:00:00Z');
const LATEST = Date.parse('2100-01-01T00:00:00Z');

export function withinSandboxTime(instant: number): boolean {
  return instant >= EARLIEST && instant <= LATEST;
}

/** An instant with its offset, `2026-11-16T06:00:00Z`. */
export const sandboxInstant = z.iso
  .datetime({ offset: true, error: 'must be an instant such as "2026-11-16T06:00:00Z"' })
  .refine((text) => withinSandboxTime(Date.parse(text)), {
    message: 'must lie between the years 2000 and 2100',
  });

export function instantText(instant: number): string {
  return new Date(instant).toISOString();
}
