import type { ReturnCode } from './return-codes.ts';
import { lookUpReturnCode } from './return-codes.ts';

export const RETURN_CLASSES = ['unauthorized', 'administrative', 'overall'] as const;
export type ReturnClass = (typeof RETURN_CLASSES)[number];

/** How many debits there were and how many of them came back, by class. */
export interface AchCounts {
  readonly debits: number;
  readonly returns: Readonly<Record<ReturnClass, number>>;
}

/** The network's limits: beyond one we are asked to explain, and may lose the right to debit accounts at all. */
export const RETURN_RATE_LIMITS: Readonly<Record<ReturnClass, number>> = {
  unauthorized: 0.005,
  administrative: 0.03,
  overall: 0.15,
};

/** The network looks at so many days, today included. */
export const RETURN_RATE_DAYS = 60;

/**
 * A rate is only worth a word once so many returns are within its limit: of 100 debits a single unauthorized one is twice
 * the limit and tells nothing. So the strictest limit needs 1,000 debits, the mildest 34.
 */
const RETURNS_WITHIN_LIMIT = 5;

export interface ReturnRate {
  readonly class: ReturnClass;
  /** Null while there are too few debits to tell. */
  readonly rate: number | null;
  readonly limit: number;
  readonly exceeded: boolean;
}

export function returnRates(
  { debits, returns }: AchCounts,
  limits: Readonly<Record<ReturnClass, number>> = RETURN_RATE_LIMITS,
): ReturnRate[] {
  return RETURN_CLASSES.map((name) => {
    const limit = limits[name];
    const rate = debits * limit < RETURNS_WITHIN_LIMIT ? null : returns[name] / debits;
    return { class: name, rate, limit, exceeded: rate !== null && rate > limit };
  });
}

/** Every return counts against the overall limit, also one with an unknown code. */
export function classesOf(returnCode: string | null): ReturnClass[] {
  const counted: ReturnCode['class'] =
    returnCode === null ? null : (lookUpReturnCode(returnCode)?.class ?? null);
  return counted === null ? ['overall'] : [counted, 'overall'];
}
