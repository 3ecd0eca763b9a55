import { expect, it } from 'vitest';
import { firstDawn, joinersOn } from '../../../chaos/days.ts';
import { formatInstant } from '../../../src/domain/instant.ts';

it.each([
  ['a Tuesday', '2026-11-17T12:00:00Z', '2026-11-23T06:00:00Z'],
  ['a Sunday', '2026-11-22T23:59:59Z', '2026-11-23T06:00:00Z'],
  ['a Monday, whose dawn may be over', '2026-11-23T12:00:00Z', '2026-11-30T06:00:00Z'],
  ['the end of a year', '2026-12-30T12:00:00Z', '2027-01-04T06:00:00Z'],
])('begins on the Monday after %s', (_, now, dawn) => {
  expect(formatInstant(firstDawn(new Date(now)))).toBe(dawn);
});

it.each([
  [5, 8],
  [5, 7],
  [24, 2],
  [240, 8],
  [5, 67],
])('%i members join over %i days: all of them, and somebody on the first', (users, days) => {
  const joined = Array.from({ length: days }, (_, day) => joinersOn(day, { users, days }));
  expect(joined[0]).toBeGreaterThan(0);
  expect(joined.reduce((sum, count) => sum + count)).toBe(users);
  // And nobody's day is much busier than another's.
  expect(Math.max(...joined) - Math.min(...joined)).toBeLessThanOrEqual(1);
});
