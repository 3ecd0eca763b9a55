import { OPEN_FLOATS } from '../allowed-float-transitions.ts';
import type { FloatRule } from '../float-case.ts';

/** A member with an unpaid float gets no other: that is read from the set, so it must say what the floats say. */
export const openFloatsAreKnown: FloatRule = function* ({ floatId, row, openSet }) {
  if (row === null) return;
  const isOpen = OPEN_FLOATS.includes(row.status);
  const isListed = openSet?.floatIds.has(floatId) ?? false;
  if (isOpen && !isListed) yield `is ${row.status}, but not among the user's open floats`;
  if (!isOpen && isListed) yield `is ${row.status}, but still among the user's open floats`;
};
