import { openTooLong, unintendedDebits } from '../../rules/2-no-debit-without-intent.ts';
import type { FloatRule } from '../float-case.ts';

/** As with billing records: money that moved is found again by its intent, and an intent ends. */
export const noDebitWithoutIntent: FloatRule = function* (float, circumstances) {
  yield* unintendedDebits(float);
  const known = new Set(float.attempts.map(({ id }) => id));
  const named = new Set(float.log.flatMap(({ attemptId }) => attemptId ?? []));
  for (const id of named) if (!known.has(id)) yield `the log names attempt ${id}, which is not there`;
  yield* openTooLong(float, circumstances);
};
