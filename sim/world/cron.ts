const MINUTE_MS = 60_000;
const MINUTES_A_DAY = 24 * 60;
const EVERY_MINUTE = '* * * * *';

/** The next moment after `afterMs` of a pattern such as `30 8 * * 1-5`, in UTC. Knows what our schedules use, and no more. */
export function nextCronMs(pattern: string, afterMs: number): number {
  const [minute = '', hour = '', day, month, weekday = ''] = pattern.split(' ');
  if (day !== '*' || month !== '*') throw new Error(`a pattern that is not known here: ${pattern}`);
  const first = Math.floor(afterMs / MINUTE_MS) + 1;
  if (pattern === EVERY_MINUTE) return first * MINUTE_MS;
  const ofDay = Number(hour) * 60 + Number(minute);
  if (!(ofDay >= 0 && ofDay < MINUTES_A_DAY)) throw new Error(`a pattern that is not known here: ${pattern}`);
  const today = Math.floor(first / MINUTES_A_DAY) * MINUTES_A_DAY;
  for (let at = today + ofDay; at < today + 9 * MINUTES_A_DAY; at += MINUTES_A_DAY)
    if (at >= first && isIn(weekday, new Date(at * MINUTE_MS).getUTCDay())) return at * MINUTE_MS;
  throw new Error(`a pattern that never comes: ${pattern}`);
}

function isIn(field: string, value: number): boolean {
  if (field === '*') return true;
  const [from, to = from] = field.split('-').map(Number);
  if (from === undefined || to === undefined || Number.isNaN(from + to))
    throw new Error(`a field that is not known here: ${field}`);
  return from <= value && value <= to;
}
