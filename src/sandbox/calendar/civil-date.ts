/** A date on the wall calendar, `2026-07-03`, with no time zone. Text, so that it compares and keys as it reads. */
export type CivilDate = string;

const DAY_MS = 86_400_000;

export function civilDate(year: number, month: number, day: number): CivilDate {
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

/** 0 is Sunday. */
export function weekdayOf(date: CivilDate): number {
  return new Date(`${date}T00:00:00Z`).getUTCDay();
}

export function addDays(date: CivilDate, days: number): CivilDate {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}
