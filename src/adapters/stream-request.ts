import { IteratorExpiredError, StreamThrottledError } from '../errors.ts';

/** A request that hangs must not keep the shard for ever; its lease would go on beating. */
const REQUEST_MS = 10_000;

/** Kinesis and DynamoDB streams give these errors the same names, but not the same classes. */
const EXPIRED = 'ExpiredIteratorException';
const THROTTLED = /throttl|ThroughputExceeded|LimitExceeded/i;

/** A request to whoever keeps a stream, with a time limit; its failure is told in the words that a reader decides on. */
export async function asked<T>(
  send: (limit: { readonly abortSignal: AbortSignal }) => Promise<T>,
): Promise<T> {
  try {
    return await send({ abortSignal: AbortSignal.timeout(REQUEST_MS) });
  } catch (error) {
    throw streamFailure(error as Error);
  }
}

/** What a stream's client throws, in the words that a reader decides on. */
function streamFailure(error: Error): Error {
  if (error.name === EXPIRED) return new IteratorExpiredError('the iterator is too old', { cause: error });
  if (THROTTLED.test(error.name))
    return new StreamThrottledError('the stream is read too often', { cause: error });
  return error;
}
