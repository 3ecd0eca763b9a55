import { Refusal } from '../app/desk/refusal.ts';
import {
  FactsTooOldError,
  LeaseTooShortError,
  LockLostError,
  MalformedRowError,
  ProcessorBusyError,
  ProcessorDownError,
  WriteUnknownError,
} from '../errors.ts';
import { Problem, userBusy } from './problems.ts';

/** Does what was asked, and tells the caller why not where it could not be done. */
export async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw problemFor(error);
  }
}

function problemFor(error: unknown): unknown {
  if (error instanceof Refusal) {
    if (error.refused === 'user-busy') return userBusy();
    return new Problem(error.refused, error.message, { cause: error });
  }
  if (error instanceof MalformedRowError)
    return new Problem('malformed-record', `${error.attribute} of ${error.row.subscriptionId}`, {
      cause: error,
    });
  // Another process has the user's lock now, and decides first.
  if (error instanceof LockLostError) return userBusy();
  if (error instanceof WriteUnknownError)
    return new Problem('service-down', 'the store’s answer was lost; ask again', { cause: error });
  // A charge that was begun goes on when the same is asked again, or when the janitor comes to it.
  const isPassing =
    error instanceof ProcessorBusyError ||
    error instanceof ProcessorDownError ||
    error instanceof LeaseTooShortError ||
    error instanceof FactsTooOldError;
  return isPassing ? new Problem('service-down', 'the processor takes nothing now', { cause: error }) : error;
}
