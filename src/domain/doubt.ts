import type { Decision } from './decision.ts';

const DOUBTFUL: ReadonlySet<string> = new Set(['user-missing', 'user-cancelled', 'user-banned']);

/**
 * The user service says that the member is gone or inactive. True of a few on any day; when it is true of many, something
 * is wrong next door rather than with them.
 */
export const isDoubtful = (decision: Decision): boolean =>
  'reason' in decision && isDoubtfulReason(decision.reason);

export const isDoubtfulReason = (reason: string): boolean => DOUBTFUL.has(reason);

/** Below this many nobody is alarmed, however small the run. */
const FEWEST = 50;
const HIGHEST_SHARE = 0.05;

/** A run stops itself here: one bad deploy next door must not cancel everybody. */
export const areTooManyDoubtful = (doubtful: number, considered: number): boolean =>
  doubtful >= FEWEST && doubtful > considered * HIGHEST_SHARE;
