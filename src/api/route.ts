import { z } from 'zod';
import type { Instant } from '../domain/instant.ts';
import { wrongInWords } from '../in-words.ts';
import type { Caller, Role } from '../ports/caller.ts';
import type { FieldError, ProblemCode } from './problems.ts';
import { Problem } from './problems.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** What comes from outside, before it was checked. */
export interface RawRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

export interface RequestContext {
  readonly caller: Caller;
  readonly requestId: string;
  /** The `Idempotency-Key` that came along. */
  readonly key: string | null;
  /** When that key came first: what is named after the time is the same when it is done again. */
  readonly keySince: Instant | null;
  /** Aborts when the caller is gone. */
  readonly gone: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Description {
  readonly method: Method;
  /** As OpenAPI writes it: `/v1/{user_id}/subscriptions`. */
  readonly path: string;
  /** Its chapter in the documentation. */
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** The least role that may call it. */
  readonly role: Role;
  /** `Idempotency-Key` is honoured. What it does under a key must be named after the key, or after when it came. */
  readonly movesMoney?: boolean;
  /** What it may answer, by status, besides problems. */
  readonly answers: Readonly<Record<number, z.ZodType>>;
  /** Problems of its own, besides those that any route has. */
  readonly problems?: readonly ProblemCode[];
}

/** A route as the server and the documentation see it. */
export interface Route extends Description {
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  readonly body: z.ZodType | null;
  /** Throws what is wrong with it. */
  check(raw: RawRequest): void;
  answer(raw: RawRequest, context: RequestContext): Promise<Answer>;
}

interface Spec<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> extends Description {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly handle: (
    input: { readonly params: z.output<P>; readonly query: z.output<Q>; readonly body: z.output<B> },
    context: RequestContext,
  ) => Promise<Answer>;
}

type Nothing = z.ZodObject<Record<never, never>, z.core.$strict>;
const nothing: Nothing = z.strictObject({});

/** Joins what is checked on the way in, what is done, and what is checked on the way out. */
export function route<
  P extends z.ZodType = Nothing,
  Q extends z.ZodType = Nothing,
  B extends z.ZodType = Nothing,
>({ params, query, body, handle, ...description }: Spec<P, Q, B>): Route {
  const schemas = { params: params ?? nothing, query: query ?? nothing, body: body ?? nothing };
  return {
    ...description,
    params: schemas.params,
    query: schemas.query,
    body: body ?? null,
    check: (raw) => void checked(schemas, raw),
    async answer(raw, context) {
      const answer = await handle(checked(schemas, raw) as Parameters<typeof handle>[0], context);
      const schema = description.answers[answer.status];
      if (schema === undefined) throw new Error(`${description.path} answers ${answer.status} unannounced`);
      return { ...answer, body: schema.parse(answer.body) };
    },
  };
}

const PLACES = { params: 'path', query: 'query', body: 'body' } as const;

type Place = keyof typeof PLACES;

/** Everything that is wrong at once: a caller should not have to mend a request one answer at a time. */
function checked(schemas: Record<Place, z.ZodType>, raw: RawRequest): Record<Place, unknown> {
  const fields: FieldError[] = [];
  const read = (place: Place): unknown => {
    // A request without a body has sent an empty one.
    const result = schemas[place].safeParse(raw[place] ?? {}, { error: wrongInWords });
    if (!result.success)
      fields.push(...result.error.issues.flatMap((issue) => refusals(PLACES[place], issue)));
    return result.data;
  };
  const input = { params: read('params'), query: read('query'), body: read('body') };
  const [first] = fields;
  if (first === undefined) return input;
  const where = first.field === '' ? first.in : `${first.in} ${first.field}`;
  throw new Problem('invalid-request', `${where}: ${first.message}`, { fields });
}

function refusals(place: FieldError['in'], issue: z.core.$ZodIssue): FieldError[] {
  const at = (key: PropertyKey[]): string => [...issue.path, ...key].map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ in: place, field: at([key]), message: 'not a field of this request' }));
  }
  return [{ in: place, field: at([]), message: issue.message }];
}
