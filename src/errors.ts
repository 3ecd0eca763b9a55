import type { SubscriptionId, UserId } from './domain/subscription.ts';

/**
 * Errors that other code decides on, one class each, with a stable code. `docs/errors.md` mirrors this file; a test
 * compares the two.
 */
export abstract class CollectionsError extends Error {
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Thrown when the lock's lease ran out or another owner holds it now. Stop working: the store refuses what comes later. */
export class LockLostError extends CollectionsError {
  readonly code = 'lock-lost';
}

/**
 * Thrown when a stored item (billing record, float, recurring or gateway subscription, event) is no longer what was
 * read. Nothing was written; read again and decide again.
 */
export class RecordChangedError extends CollectionsError {
  readonly code = 'record-changed';
}

/** Thrown when a member is to get a float and has one that is not paid back. Nothing was written. */
export class OpenFloatError extends CollectionsError {
  readonly code = 'open-float';
}

/** Thrown when a float is to be recorded whose due date has passed. Nothing was written. */
export class DueDatePassedError extends CollectionsError {
  readonly code = 'due-date-passed';
}

/** Thrown when a recurring payment is to start on a day that has passed or is too far off. */
export class StartDateError extends CollectionsError {
  readonly code = 'start-date-refused';
}

/** Thrown when a forecast is asked for a day of which nobody can tell anything. */
export class TooFarAheadError extends CollectionsError {
  readonly code = 'too-far-ahead';
}

/** Thrown when a new record's instant is already taken in the user's partition. */
export class PeriodTakenError extends CollectionsError {
  readonly code = 'period-taken';
}

/** Thrown when a stored row cannot be read as what it should be. Names the row's key and the field. */
export class MalformedRowError extends CollectionsError {
  readonly code = 'malformed-row';
  /** As far as the row tells. */
  readonly row: { readonly userId: UserId; readonly subscriptionId: SubscriptionId };
  /** The attribute that cannot be read. */
  readonly attribute: string;

  constructor(
    message: string,
    row: { userId: string; subscriptionId: string; attribute: string },
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.attribute = row.attribute;
    this.row = { userId: row.userId as UserId, subscriptionId: row.subscriptionId as SubscriptionId };
  }
}

/** Thrown when the environment holds a value that is not allowed. Names every bad variable and what is allowed. */
export class ConfigurationError extends CollectionsError {
  readonly code = 'bad-configuration';
}

/** Thrown when a program that the embedded servers need is missing and could not be installed. */
export class MissingProgramError extends CollectionsError {
  readonly code = 'missing-program';
}

/** Thrown when the local system is already up on this data folder. */
export class AlreadyRunningError extends CollectionsError {
  readonly code = 'already-running';
}

/** Thrown when the store's answer was lost and could not be learnt. The write may have been made: read again. */
export class WriteUnknownError extends CollectionsError {
  readonly code = 'write-unknown';
}

/** Thrown before a write that would change a status in a way that the transition table does not allow. A bug. */
export class IllegalTransitionError extends CollectionsError {
  readonly code = 'illegal-transition';
}

/** Thrown when a service that we depend on does not answer, or not sensibly. Nothing is known; try again later. */
export class ServiceDownError extends CollectionsError {
  readonly code = 'service-down';
}

/** Thrown before a charge is sent when the lock might run out before its answer. The intent stands: it is resumed later. */
export class LeaseTooShortError extends CollectionsError {
  readonly code = 'lease-too-short';
}

/** Thrown before a charge when what was decided on is too old to hold. Nothing was begun: read and decide again. */
export class FactsTooOldError extends CollectionsError {
  readonly code = 'facts-too-old';
}

/** Thrown before a charge when the process is about to stop. Nothing was begun: somebody else takes the job. */
export class StoppingError extends CollectionsError {
  readonly code = 'stopping';
}

/** Thrown before a charge while the processor does not answer anybody. Nothing was begun: come again when it may be back. */
export class ProcessorDownError extends CollectionsError {
  readonly code = 'processor-down';
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super(`the processor does not answer; the next look is in ${retryAfterMs} ms`);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Thrown when the processor takes nothing now (429). Nothing was charged: the same attempt goes on later. */
export class ProcessorBusyError extends CollectionsError {
  readonly code = 'processor-busy';
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number, options?: ErrorOptions) {
    super(`the processor asks to come again in ${retryAfterMs} ms`, options);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Thrown when an id under which a request was accepted comes with another one. The first one stands. */
export class RequestConflictError extends CollectionsError {
  readonly code = 'request-conflict';
}

/** Thrown when an event cannot be read as what it says it is. Trying again does not help: somebody has to look at it. */
export class MalformedEventError extends CollectionsError {
  readonly code = 'malformed-event';
}

/** Thrown when a record's term must change and its tier has no price for the new one. Nothing was written. */
export class UnpricedTierError extends CollectionsError {
  readonly code = 'unpriced-tier';
}

/** Thrown when a place in a stream was kept for too long. Ask for a new one after the checkpoint. */
export class IteratorExpiredError extends CollectionsError {
  readonly code = 'iterator-expired';
}

/** Thrown when a stream is read more often than it allows. The same place can be read again a little later. */
export class StreamThrottledError extends CollectionsError {
  readonly code = 'stream-throttled';
}

/** Thrown when a shard's checkpoint stands further than where it was to be moved, or at the shard's end. Read it again. */
export class CheckpointPassedError extends CollectionsError {
  readonly code = 'checkpoint-passed';
}

/** Thrown when an event is about a record, or a payment for it, that is not known here yet. Come again for a while. */
export class UnknownRecordError extends CollectionsError {
  readonly code = 'unknown-record';
}

/** Thrown when a list is to be read on from a place that it does not have. Begin it anew. */
export class BadCursorError extends CollectionsError {
  readonly code = 'bad-cursor';
}
