import type { Decision } from './decision.ts';

const DOUBTFUL: ReadonlySet<string> = new Set(['user-missing', 'user-cancelled', 'user-banned']);

/**
 * The user service says that the member is gone or inactive. True of a few on any day; when it is true of many, something
 * is wrong next door rather than with them.
 */
export const isDoubtful = (decision: Decision): boolean =>
  'reason' in decision && isDoubtfulReason(decision.reason);

export const isDoubtfulReason = (reason: string): boolean => DOUBTFUL.has(reason);

/** Below this many a run does not stop, however small it is. */
const FEWEST = 50;
const HIGHEST_SHARE = 0.05;

/** A run stops itself here: one bad deploy of the user service must not cancel every member. */
export const areTooManyDoubtful = (doubtful: number, considered: number): boolean =>
  doubtful >= FEWEST && doubtful > considered * HIGHEST_SHARE;
