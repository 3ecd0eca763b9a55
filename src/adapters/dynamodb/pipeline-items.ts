import { z } from 'zod';
import type { AttemptId, PastAttempt } from '../../domain/attempt.ts';
import { ATTEMPT_PROCESSES } from '../../domain/attempt.ts';
import type { CalendarDate } from '../../domain/calendar-date.ts';
import { parseDate } from '../../domain/calendar-date.ts';
import type { Instant } from '../../domain/instant.ts';
import { plusDays, sortableText } from '../../domain/instant.ts';
import { PLANS } from '../../domain/plan.ts';
import type { SubscriptionId, UserId } from '../../domain/subscription.ts';
import { RAILS, TERMS } from '../../domain/subscription.ts';
import type { RunId, RunProcess } from '../../domain/runs.ts';
import { RUN_PROCESSES } from '../../domain/runs.ts';
import type { Verdict } from '../../domain/verdict.ts';
import { VERDICTS } from '../../domain/verdict.ts';
import type { FreezeOrder, FreezeTarget } from '../../ports/freezes.ts';
import type { Attempt, Resolution } from '../../ports/pipeline.ts';
import type { RecordRef, Run } from '../../ports/runs.ts';
import type { PageKey } from '../../ports/subscriptions.ts';
import { instant, money } from '../codecs.ts';
import { forecast, planTallies, tally } from '../forecast-codec.ts';
import type { Due, PipelineKey } from './item-codec.ts';
import {
  attemptId,
  dueAttributes,
  partOf,
  read,
  subscriptionId,
  ttlSeconds,
  userId,
  write,
} from './item-codec.ts';
import type { RawItem } from './raw-item.ts';

/*
 * The items of the pipeline table, which only we write. Keys first; then the shape of each kind, read with a check
 * because a row that was mended by hand may be wrong.
 */

export const keys = {
  state: (id: SubscriptionId) => ({ pk: `SUB#${id}`, sk: 'STATE' }),
  attempt: (id: SubscriptionId, attempt: AttemptId) => ({ pk: `SUB#${id}`, sk: `ATTEMPT#${attempt}` }),
  verdict: (id: SubscriptionId, triggerId: string) => ({ pk: `SUB#${id}`, sk: `VERDICT#${triggerId}` }),
  /** One item for each thing that can be frozen, so that a decision finds those that concern it by their keys. */
  freeze: (target: FreezeTarget) => ({ pk: `FREEZE#${frozenThing(target)}`, sk: 'FREEZE' }),
  /** The same once more in one place, for people to list. */
  freezeList: (target: FreezeTarget) => ({ pk: 'FREEZES', sk: frozenThing(target) }),
  freezeLog: (target: FreezeTarget, at: Instant, action: FreezeAction) => ({
    pk: 'FREEZE_LOG',
    sk: `${sortableText(at)}#${frozenThing(target)}#${action}`,
  }),
  achBlock: (accountId: string) => ({ pk: `ACCOUNT#${accountId}`, sk: 'ACH_BLOCK' }),
  run: (process: RunProcess, tick: Instant) => ({ pk: 'RUNS', sk: `${sortableText(tick)}#${process}` }),
  /** Apart from the run, which is rewritten as a whole with every page. */
  runGuard: (runId: RunId) => ({ pk: `RUN#${runId}`, sk: 'GUARD' }),
  schedule: { pk: 'SCHEDULE', sk: 'SINCE' },
  resume: (id: SubscriptionId) => ({ pk: `SUB#${id}`, sk: 'RESUME' }),
  /** There while a membership event waits to be applied. */
  membership: (userId: UserId) => ({ pk: `USER#${userId}`, sk: 'MEMBERSHIP' }),
  /** Membership events that wait for an operator. */
  quarantined: (userId: UserId) => ({ pk: `USER#${userId}`, sk: 'QUARANTINED' }),
} as const;

export type FreezeAction = 'frozen' | 'lifted';

function frozenThing(target: FreezeTarget): string {
  return target.scope === 'user' ? `USER#${target.userId}` : target.scope;
}

/** Sparse: what the janitor, a sweep, a run or an operator has to look at, by when. */
export const DUE_LIST_INDEX = 'due-index';
/** What a run, request or signal came to, record by record. */
export const TRIGGER_INDEX = 'trigger-index';

export const RUNNING_RUNS = 'running-runs';
export const RESUMES = 'resumes';
const VERDICT_DAYS = 90;

const terms = z.object({ term: z.enum(TERMS), tierName: z.string(), amount: money });

const attempt = z.object({
  attemptId,
  subscriptionId,
  userId,
  triggerId: z.string(),
  process: z.enum(ATTEMPT_PROCESSES),
  rail: z.enum(RAILS),
  amount: money,
  accountId: z.string().nullable(),
  description: z.string().nullable(),
  insteadOf: attemptId.nullable(),
  // Attempts from before there were refunds and upgrades have neither.
  refundOf: z.string().nullable().default(null),
  upgrades: z.object({ subscriptionId, amount: money, instead: terms.optional() }).nullable().default(null),
  billedBefore: z.int().optional(),
  achModel: z
    .object({
      override: z.boolean(),
      version: z.string(),
      features: z.record(z.string(), z.number()),
      probability: z.number(),
    })
    .nullish(),
  period: z.custom<CalendarDate>((value) => typeof value === 'string' && parseDate(value) !== null).nullish(),
  openedAt: instant,
  sentAgainAt: instant.nullish(),
}) satisfies z.ZodType<Attempt>;

const resolution = z.object({
  status: z.enum(['COMPLETED', 'ACHSENT', 'FAILED']),
  at: instant,
  confirmationId: z.string(),
  errorCode: z.string().nullable(),
  errorMessage: z.string().nullable(),
}) satisfies z.ZodType<Resolution>;

const past = z.object({
  process: z.enum(ATTEMPT_PROCESSES),
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
  /** How often the janitor has asked about the open attempt in vain. */
  checks: z.int(),
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
  plan: z.object({ plan: z.enum(PLANS), reason: z.string() }).nullable(),
  heldIn: z.int().nullable(),
  detail: z.string().nullable(),
}) satisfies z.ZodType<Verdict>;

const freeze = z.object({
  scope: z.enum(['global', 'user', ...RAILS]),
  userId: userId.optional(),
  reason: z.string(),
  who: z.string(),
  at: instant,
  until: instant.nullable(),
});
const freezeLogEntry = freeze.extend({ action: z.enum(['frozen', 'lifted']) });
const report = z.object({
  records: z.int(),
  amount: money,
  byVerdict: z.partialRecord(z.enum(VERDICTS), tally),
  byPlan: planTallies,
});
const run = z.object({
  runId: z.custom<RunId>((value) => typeof value === 'string'),
  process: z.enum(RUN_PROCESSES),
  tick: instant,
  status: z.enum(['running', 'complete', 'stopped']),
  pass: z.int(),
  page: z.int(),
  cursor: z.custom<PageKey>((value) => typeof value === 'string').nullable(),
  due: z.int(),
  enqueuedInPass: z.int(),
  enqueued: z.int(),
  notOwned: z.int(),
  startedAt: instant,
  progressAt: instant,
  finishedAt: instant.nullable(),
  report: report.nullable(),
  forecast: forecast.nullable(),
}) satisfies z.ZodType<Run>;

const runGuard = z.object({ doubtful: z.int() });
const schedule = z.object({ since: instant });
const resume = z.object({ userId, subscriptionId });
const achBlock = z.object({ returnCode: z.string() });

export interface StateContent {
  readonly revision: number;
  readonly open: Attempt | null;
  readonly checks: number;
  readonly past: readonly PastAttempt[];
}

export const items = {
  state: {
    read: (item: RawItem): StateContent => read(state, item) as StateContent,
    write: (id: SubscriptionId, content: StateContent, due: Due | null): RawItem =>
      write(state, content as z.output<typeof state>, { ...keys.state(id), ...dueAttributes(id, due) }),
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
        triggerPart: partOf(content.triggerId, content.subscriptionId),
        expires_at: ttlSeconds(plusDays(content.at, VERDICT_DAYS)),
      }),
  },
  freeze: {
    read: (item: RawItem): FreezeOrder => orderOf(read(freeze, item)),
    write: (order: FreezeOrder, key: PipelineKey): RawItem =>
      write(freeze, { ...order, ...order.target }, key),
    writeLog: (order: FreezeOrder, action: FreezeAction): RawItem =>
      write(
        freezeLogEntry,
        { ...order, ...order.target, action },
        keys.freezeLog(order.target, order.at, action),
      ),
  },
  run: {
    read: (item: RawItem): Run => read(run, item),
    write: (content: Run): RawItem =>
      write(run, content, {
        ...keys.run(content.process, content.tick),
        ...dueAttributes(
          content.runId,
          content.status === 'running' ? { list: RUNNING_RUNS, at: content.startedAt } : null,
        ),
      }),
  },
  runGuard: { read: (item: RawItem) => read(runGuard, item) },
  schedule: {
    read: (item: RawItem): Instant => read(schedule, item).since,
    write: (since: Instant): RawItem => write(schedule, { since }, keys.schedule),
  },
  resume: {
    read: (item: RawItem): RecordRef => read(resume, item),
    /** Written together with the change that flags the record. */
    write: (content: RecordRef, at: Instant): RawItem =>
      write(resume, content, {
        ...keys.resume(content.subscriptionId),
        ...dueAttributes(content.subscriptionId, { list: RESUMES, at }),
      }),
  },
  achBlock: {
    read: (item: RawItem) => read(achBlock, item),
    write: (accountId: string, returnCode: string): RawItem =>
      write(achBlock, { returnCode }, keys.achBlock(accountId)),
  },
} as const;

function orderOf({ scope, userId: id, ...order }: z.output<typeof freeze>): FreezeOrder {
  if (scope !== 'user') return { ...order, target: { scope } };
  if (id === undefined) throw new Error('a freeze of a user names no user');
  return { ...order, target: { scope, userId: id } };
}
