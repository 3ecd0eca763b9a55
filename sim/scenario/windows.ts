const MINUTE_MS = 60_000;

export type BillingRun = 'retry' | 'scheduled' | 'stale' | 'pause';

/** A time at which something is to be done. In between nobody is awake: the world leaps from one to the next. */
export interface Window {
  readonly atMs: number;
  /** The run that starts just then, where one does. */
  readonly run: BillingRun | null;
}

const WEEKDAY = [
  ['07:00', 'retry'],
  ['08:00', 'scheduled'],
  ['09:30', null],
  ['22:00', 'pause'],
] as const;
const WEEKEND = [['09:30', null]] as const;

/** Runs of a day, as the schedule has them; what starts in between comes with the next window, as after a short outage. */
export function windowsOf(dayMs: number): Window[] {
  const weekday = new Date(dayMs).getUTCDay();
  const windows = weekday === 0 || weekday === 6 ? WEEKEND : WEEKDAY;
  return windows.map(([at, run]) => {
    const [hours = 0, minutes = 0] = at.split(':').map(Number);
    return { atMs: dayMs + (hours * 60 + minutes) * MINUTE_MS, run };
  });
}
