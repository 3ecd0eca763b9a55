import { IteratorExpiredError, StreamThrottledError } from '../errors.ts';

/** Kinesis and DynamoDB streams give these errors the same names, but not the same classes. */
const EXPIRED = 'ExpiredIteratorException';
const THROTTLED = /throttl|ThroughputExceeded|LimitExceeded/i;

/** What a stream's client throws, in the words that a reader decides on. */
export function streamFailure(error: Error): Error {
  if (error.name === EXPIRED) return new IteratorExpiredError('the iterator is too old', { cause: error });
  if (THROTTLED.test(error.name))
    return new StreamThrottledError('the stream is read too often', { cause: error });
  return error;
}
