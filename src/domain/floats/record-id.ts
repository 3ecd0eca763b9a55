import type { SubscriptionId } from '../subscription.ts';
import type { FloatId } from './float.ts';

/*
 * Attempts, verdicts, watches and requests are kept by the id of the record that they are about, whatever is collected.
 * A float's carries its kind, so that it is not taken for a billing record and is told apart wherever it shows up.
 */

const PREFIX = 'float.';

export const recordIdOf = (floatId: FloatId): SubscriptionId => `${PREFIX}${floatId}` as SubscriptionId;

/** Null: it is a billing record's. */
export const floatIdOf = (recordId: string): FloatId | null =>
  recordId.startsWith(PREFIX) ? (recordId.slice(PREFIX.length) as FloatId) : null;
