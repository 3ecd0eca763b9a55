import { createHash } from 'node:crypto';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { z } from 'zod';
import type { AttemptId, PastAttempt } from '../../domain/attempt.ts';
import type { Instant } from '../../domain/instant.ts';
import { formatInstant, msOf, parseInstant, plusDays } from '../../domain/instant.ts';
import type { Cents } from '../../domain/money.ts';
import { formatMoney, parseMoney } from '../../domain/money.ts';
import type { SubscriptionId, UserId } from '../../domain/subscription.ts';
import { PROCESSES, RAILS } from '../../domain/subscription.ts';
import type { Verdict } from '../../domain/verdict.ts';
import { VERDICTS } from '../../domain/verdict.ts';
import { MalformedRowError } from '../../errors.ts';
import type { Attempt, Resolution } from '../../ports/pipeline.ts';
import type { RawItem } from './raw-item.ts';

/*
 * The items of the pipeline table, which only we write. Keys first; then the shape of each kind, read with a check
 * because a row that was mended by hand may be wrong.
 */

export const keys = {
  state: (id: SubscriptionId) => ({ pk: `SUB#${id}`, sk: 'STATE' }),
  attempt: (id: SubscriptionId, attempt: AttemptId) => ({ pk: `SUB#${id}`, sk: `ATTEMPT#${attempt}` }),
  verdict: (id: SubscriptionId, triggerId: string) => ({ pk: `SUB#${id}`, sk: `VERDICT#${triggerId}` }),
  freeze: (scope: string) => ({ pk: `FREEZE#${scope}`, sk: 'FREEZE' }),
  achBlock: (accountId: string) => ({ pk: `ACCOUNT#${accountId}`, sk: 'ACH_BLOCK' }),
  membership: (userId: UserId) => ({ pk: `USER#${userId}`, sk: 'MEMBERSHIP' }),
} as const;

export type PipelineKey = { readonly pk: string; readonly sk: string };

/** A run has so many parts to read its verdicts from, so that one busy run is not one busy partition. */
const TRIGGER_PARTS = 8;
const VERDICT_DAYS = 90;

const instant = z.codec(z.string(), z.custom<Instant>(), {
  decode: (text, context) => parseInstant(text) ?? refuse(context, 'a time'),
  encode: formatInstant,
});
const money = z.codec(z.string(), z.custom<Cents>(), {
  decode: (text, context) => parseMoney(text) ?? refuse(context, 'an amount'),
  encode: formatMoney,
});
const subscriptionId = z.custom<SubscriptionId>((value) => typeof value === 'string');
const userId = z.custom<UserId>((value) => typeof value === 'string');
const attemptId = z.custom<AttemptId>((value) => typeof value === 'string');

function refuse(context: z.core.ParsePayload, what: string): never {
  context.issues.push({ code: 'custom', input: context.value, message: `not ${what}` });
  return z.NEVER;
}

const attempt = z.object({
  attemptId,
  subscriptionId,
  userId,
  triggerId: z.string(),
  process: z.enum(PROCESSES),
  rail: z.enum(RAILS),
  amount: money,
  accountId: z.string().nullable(),
  description: z.string().nullable(),
  openedAt: instant,
}) satisfies z.ZodType<Attempt>;

const resolution = z.object({
  status: z.enum(['COMPLETED', 'ACHSENT', 'FAILED']),
  at: instant,
  confirmationId: z.string(),
  errorCode: z.string().nullable(),
  errorMessage: z.string().nullable(),
}) satisfies z.ZodType<Resolution>;

const past = z.object({
  process: z.enum(PROCESSES),
  at: instant,
  rail: z.enum(RAILS).nullable(),
  result: z.enum(['REFUSED', 'COMPLETED', 'FAILED', 'ACHSENT', 'RETURNED']),
  returnCode: z.string().nullable().optional(),
  accountId: z.string().nullable().optional(),
});

/** The summary of a record's attempts: everything that a decision asks about them. */
const state = z.object({
  revision: z.int(),
  open: attempt.nullable(),
  past: z.array(past),
});

/** One attempt for ever, with what was sent and what came of it. */
const attemptRecord = attempt.extend({ resolution: resolution.nullable() });

const verdict = z.object({
  subscriptionId,
  userId,
  triggerId: z.string(),
  verdict: z.enum(VERDICTS),
  reason: z.string(),
  amount: money,
  at: instant,
  attemptId: attemptId.nullable(),
  until: instant.nullable(),
}) satisfies z.ZodType<Verdict>;

const freeze = z.object({ until: instant.nullable() });
const achBlock = z.object({ returnCode: z.string() });
const membership = z.object({ unapplied: z.int(), quarantined: z.int() });

export type StateContent = {
  readonly revision: number;
  readonly open: Attempt | null;
  readonly past: readonly PastAttempt[];
};

export const items = {
  state: {
    read: (item: RawItem): StateContent => read(state, item) as StateContent,
    write: (id: SubscriptionId, content: StateContent, due: Due | null): RawItem =>
      write(state, content as z.output<typeof state>, { ...keys.state(id), ...dueAttributes(due) }),
  },
  attempt: {
    read: (item: RawItem): Attempt & { resolution: Resolution | null } => read(attemptRecord, item),
    write: (content: Attempt & { resolution: Resolution | null }): RawItem =>
      write(attemptRecord, content, keys.attempt(content.subscriptionId, content.attemptId)),
  },
  verdict: {
    read: (item: RawItem): Verdict => read(verdict, item),
    write: (content: Verdict): RawItem =>
      write(verdict, content, {
        ...keys.verdict(content.subscriptionId, content.triggerId),
        triggerPart: triggerPart(content.triggerId, content.subscriptionId),
        expires_at: Math.floor(msOf(plusDays(content.at, VERDICT_DAYS)) / 1000),
      }),
  },
  freeze: { read: (item: RawItem) => read(freeze, item) },
  achBlock: { read: (item: RawItem) => read(achBlock, item) },
  membership: { read: (item: RawItem) => read(membership, item) },
} as const;

/** An entry in a list of things to look at, and when. Sparse: an item without it is in no list. */
export interface Due {
  readonly list: string;
  readonly at: Instant;
}

const dueAttributes = (due: Due | null) =>
  due === null ? {} : { dueList: due.list, dueAt: formatInstant(due.at) };

export const triggerParts = (triggerId: string): string[] =>
  Array.from({ length: TRIGGER_PARTS }, (_, part) => `${triggerId}#${part}`);

const triggerPart = (triggerId: string, id: SubscriptionId): string =>
  `${triggerId}#${createHash('sha256').update(id).digest().readUInt8(0) % TRIGGER_PARTS}`;

function read<T>(schema: z.ZodType<T>, item: RawItem): T {
  const result = schema.safeParse(unmarshall(item));
  if (result.success) return result.data;
  const fields = result.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ');
  throw new MalformedRowError(`pipeline item ${item['pk']?.S ?? '?'} / ${item['sk']?.S ?? '?'}: ${fields}`);
}

const write = <S extends z.ZodType>(schema: S, content: z.output<S>, key: object): RawItem =>
  marshall({ ...(z.encode(schema, content) as object), ...key }, { removeUndefinedValues: true });
