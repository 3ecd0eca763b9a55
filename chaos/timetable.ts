const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** When each run starts, in UTC. Written down here once more: a schedule that left a day out would agree with itself. */
const TIMETABLE = {
  retry: { at: '07:00', on: 'weekdays' },
  scheduled: { at: '08:00', on: 'weekdays' },
  stale: { at: '09:00', on: 'every day' },
  notify: { at: '15:00', on: 'every day' },
  pause: { at: '22:00', on: 'weekdays' },
  'float-retry': { at: '08:30', on: 'weekdays' },
  'float-tomorrow': { at: '09:30', on: 'weekdays' },
  'float-today': { at: '09:30', on: 'weekdays' },
  'recurring-reminders': { at: '15:00', on: 'every day' },
  'recurring-payments': { at: '16:00', on: 'every day' },
} as const;

export type TimedRun = keyof typeof TIMETABLE;
export const TIMED_RUNS = Object.keys(TIMETABLE) as TimedRun[];

/** The latest run of a kind that was to begin by then. */
export function newestRun(run: TimedRun, nowMs: number): { readonly id: string; readonly tick: string } {
  const { at, on } = TIMETABLE[run];
  const today = new Date(nowMs).toISOString().slice(0, 10);
  let tickMs = Date.parse(`${today}T${at}:00Z`);
  while (tickMs > nowMs || (on === 'weekdays' && isWeekend(tickMs))) tickMs -= DAY_MS;
  const tick = new Date(tickMs).toISOString().replace('.000Z', 'Z');
  return { id: `${run}-${tick.replaceAll(/[-:]/g, '')}`, tick };
}

const isWeekend = (ms: number): boolean => [0, 6].includes(new Date(ms).getUTCDay());
