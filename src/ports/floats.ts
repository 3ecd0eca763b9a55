import type { CalendarDate } from '../domain/calendar-date.ts';
import type { RouteAdvice, RouteFeatures } from '../domain/floats/ach-route.ts';
import type { FloatRange } from '../domain/floats/due.ts';
import type { Float, FloatId, FloatStatus, LogEntry } from '../domain/floats/float.ts';
import type { FloatChange } from '../domain/floats/outcomes.ts';
import type { UserId } from '../domain/subscription.ts';
import type { MalformedRowError } from '../errors.ts';
import type { PageKey } from './subscriptions.ts';
import type { Authority, Write } from './transaction.ts';

export interface FloatPage {
  readonly floats: readonly Float[];
  readonly malformed: readonly MalformedRowError[];
  readonly nextKey: PageKey | null;
}

/** The floats, and with each change the rows of the log that belong to it. */
export interface FloatsRepository {
  /** Consistent. */
  get(floatId: FloatId): Promise<Float | null>;
  /** Newest first. From the index, so that one made just now may be missing. */
  listByUserID(userId: UserId): Promise<FloatPage>;
  /** The user's floats that are not paid back. Consistent. */
  openOf(userId: UserId): Promise<readonly FloatId[]>;
  due(range: FloatRange, key: PageKey | null): Promise<FloatPage>;
  /** Of a status, those that are due last first; at most so many, and no more pages. From the index. */
  newest(status: FloatStatus, most: number): Promise<FloatPage>;
  /** Refused with an OpenFloatError while the user has one that is not paid back, and if the id was used before. */
  create(authority: Authority, float: Float): Promise<void>;
  /**
   * One transaction: the float as it was read becomes what it is now, with its row of the log and what goes along. A
   * RecordChangedError says that somebody else changed it meanwhile.
   */
  save(authority: Authority, before: Float, change: FloatChange, also?: readonly Write[]): Promise<void>;
}

/** Every attempt on a float, for ever: what limits are read from. */
export interface CollectionHistory {
  /** Oldest first, consistent. Throws a MalformedRowError: with a row that nobody can read, no limit is known. */
  getByFloatID(floatId: FloatId): Promise<readonly LogEntry[]>;
}

/** Somebody may have a float although the requirements are not met. */
export interface Bypass {
  readonly userId: UserId;
  /** The last day on which it counts. */
  readonly expirationDate: CalendarDate;
  readonly reason: string;
}

export interface Bypasses {
  get(userId: UserId): Promise<Bypass | null>;
  save(bypass: Bypass): Promise<void>;
  /** False: there was none. */
  remove(userId: UserId): Promise<boolean>;
}

/** Whether a float's debit should go by ACH. A rule now; a model may take its place. */
export interface AchRouting {
  advise(features: RouteFeatures): Promise<RouteAdvice>;
}
