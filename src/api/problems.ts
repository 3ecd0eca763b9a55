import {
  BadCursorError,
  CollectionsError,
  DueDatePassedError,
  StartDateError,
  TooFarAheadError,
} from '../errors.ts';

interface ProblemKind {
  readonly status: number;
  readonly title: string;
}

/**
 * Everything that the API may answer instead of what was asked for. `docs/errors.md` mirrors it; a test compares the two.
 * A code is a promise: callers decide on it.
 */
export const PROBLEMS = {
  'invalid-request': { status: 400, title: 'A field is missing, unknown or has a value that is not allowed' },
  'malformed-body': { status: 400, title: 'The body cannot be read as JSON' },
  'malformed-path': { status: 400, title: 'The path cannot be decoded' },
  'bad-signature': { status: 401, title: 'Not signed by the gateway for us' },
  unauthenticated: { status: 401, title: 'No bearer token, or one that nobody was given' },
  forbidden: { status: 403, title: 'This token may not do that' },
  'not-found': { status: 404, title: 'There is nothing here by that name' },
  'method-not-allowed': { status: 405, title: 'Not with this method' },
  'body-too-large': { status: 413, title: 'The body is larger than this API reads' },
  'unsupported-media-type': { status: 415, title: 'Send JSON, as application/json in UTF-8' },
  'too-many-requests': { status: 429, title: 'This token asks more often than it may' },
  'user-busy': { status: 409, title: 'Somebody else works on this user right now' },
  overtaken: { status: 409, title: 'Later events of this user were applied meanwhile' },
  'dealt-with': { status: 409, title: 'The same event was delivered again and dealt with' },
  unreadable: { status: 409, title: 'The event cannot be read as one now either' },
  'idempotency-conflict': { status: 409, title: 'The Idempotency-Key came with another request before' },
  'request-conflict': { status: 409, title: 'The id was used for something else before' },
  'not-payable': { status: 409, title: 'The record is in a status in which it is not paid by hand' },
  'pending-cancellation': { status: 409, title: 'The member has cancelled' },
  'account-closed': { status: 409, title: 'The member has closed the account' },
  'attempt-open': { status: 409, title: 'A charge for this record has no answer yet' },
  frozen: { status: 409, title: 'Charging is frozen' },
  'not-owned': { status: 409, title: 'The other service bills this member' },
  'malformed-record': { status: 409, title: 'A record of this member cannot be read' },
  'payment-declined': { status: 402, title: 'The card was declined' },
  'illegal-transition': { status: 409, title: 'The record cannot go from its status to that one' },
  'period-taken': { status: 409, title: 'Another record of this member stands in the way of that date' },
  'unpriced-tier': { status: 409, title: 'That tier is not sold for that term' },
  'membership-ended': { status: 409, title: 'The member has no membership in which this could be done' },
  'already-active': { status: 409, title: 'The member has a membership' },
  'user-not-eligible': { status: 409, title: 'This user is not charged' },
  'no-debit-card': { status: 409, title: 'The member has no debit card' },
  'no-upcoming-period': { status: 409, title: 'No period is to come whose price could change' },
  'not-an-upgrade': { status: 409, title: 'The member would not pay more' },
  'not-a-downgrade': { status: 409, title: 'The member would not pay less' },
  'too-far-ahead': { status: 409, title: 'The next billing date is too far off for a proration' },
  'amount-mismatch': { status: 409, title: 'It costs another amount' },
  'not-refundable': { status: 409, title: 'The record has no payment that could be given back' },
  'refund-declined': { status: 409, title: 'The processor refused to give the payment back' },
  'reactivation-undone': {
    status: 409,
    title: 'It was paid, but the membership had gone on; the money goes back',
  },
  'upgrade-undone': { status: 409, title: 'It was paid but could not be had any more; the money goes back' },
  'no-active-subscription': { status: 409, title: 'The user is no active member' },
  'over-limit': { status: 409, title: 'More, or for longer, than is advanced to anybody' },
  'open-float': { status: 409, title: 'The member has a float that is not paid back' },
  'requirements-not-met': { status: 409, title: 'The member does not meet what a float requires' },
  'subscription-over': { status: 409, title: 'The recurring payment has ended' },
  'payment-owed': { status: 409, title: 'The payment of this period was declined, and is owed as it was' },
  'already-subscribed': { status: 409, title: 'The owner has an active subscription of this SKU' },
  'gateway-off': { status: 503, title: 'This gateway is not configured here' },
  'service-down': { status: 503, title: 'A service that this needs does not answer' },
  internal: { status: 500, title: 'Something went wrong here; the request id finds it in the log' },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;

/** One value that was refused. */
export interface FieldError {
  readonly in: 'path' | 'query' | 'body' | 'header';
  /** `data.amount`; empty for the whole of it. */
  readonly field: string;
  readonly message: string;
}

export interface ProblemOptions extends ErrorOptions {
  readonly fields?: readonly FieldError[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** Thrown by a route to answer with a problem. The detail is shown to the caller. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly fields: readonly FieldError[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ProblemCode, detail: string, { fields = [], headers = {}, cause }: ProblemOptions = {}) {
    super(detail, { cause });
    this.name = 'Problem';
    this.code = code;
    this.fields = fields;
    this.headers = headers;
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }

  /** As RFC 9457 writes it. */
  answer(requestId: string) {
    return {
      status: this.status,
      body: this.body(requestId),
      headers: { ...this.headers, 'content-type': 'application/problem+json' },
    };
  }

  private body(requestId: string): object {
    return {
      type: `urn:problem:${this.code}`,
      title: PROBLEMS[this.code].title,
      status: this.status,
      code: this.code,
      detail: this.message,
      request_id: requestId,
      ...(this.fields.length > 0 ? { errors: this.fields } : {}),
    };
  }
}

/** One value that only the route itself could judge. */
export const invalidField = (place: FieldError['in'], field: string, message: string): Problem =>
  new Problem('invalid-request', `${place} ${field}: ${message}`, {
    fields: [{ in: place, field, message }],
  });

/** How long another job usually holds a user. */
const BUSY_SECONDS = 5;

export const userBusy = (): Problem =>
  new Problem('user-busy', `come again in ${BUSY_SECONDS} seconds`, {
    headers: { 'retry-after': String(BUSY_SECONDS) },
  });

/** Whatever was thrown, as what the caller is told. What went wrong inside stays inside. */
export function problemOf(error: unknown, isStoreDown: (error: Error) => boolean = () => false): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof CollectionsError && isToldAsIs(error.code)) {
    return new Problem(error.code, error.message, { cause: error });
  }
  if (error instanceof BadCursorError) return invalidField('query', 'after', error.message);
  if (error instanceof TooFarAheadError) return invalidField('body', 'as_of', error.message);
  if (error instanceof StartDateError) return invalidField('body', 'start_date', error.message);
  if (error instanceof DueDatePassedError) return invalidField('body', 'due_date', error.message);
  if (error instanceof Error && isStoreDown(error)) {
    return new Problem('service-down', 'the store does not answer', { cause: error });
  }
  const code = codeOfRefusal(error);
  if (code !== null) return new Problem(code, PROBLEMS[code].title, { cause: error });
  return new Problem('internal', PROBLEMS.internal.title, { cause: error });
}

const TOLD_AS_IS = ['request-conflict', 'service-down', 'open-float'] as const;

const isToldAsIs = (code: string): code is (typeof TOLD_AS_IS)[number] =>
  TOLD_AS_IS.some((told) => told === code);

/** Errors with a status that Express and its body reader throw before a route is asked. */
function codeOfRefusal(error: unknown): ProblemCode | null {
  const status = error instanceof Error && 'status' in error ? error.status : null;
  switch (status) {
    case 400:
      return error instanceof URIError ? 'malformed-path' : 'malformed-body';
    case 413:
      return 'body-too-large';
    case 415:
      return 'unsupported-media-type';
    default:
      return null;
  }
}
