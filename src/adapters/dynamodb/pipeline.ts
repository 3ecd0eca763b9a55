import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DeleteItemCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { AchEntry, AchOutcome } from '../../domain/ach/settlement.ts';
import { withSettled } from '../../domain/ach/settlement.ts';
import type { PastAttempt } from '../../domain/attempt.ts';
import type { Facts, Freeze } from '../../domain/decision.ts';
import type { Instant } from '../../domain/instant.ts';
import { plusMs, sortableText } from '../../domain/instant.ts';
import type { RunId } from '../../domain/runs.ts';
import type { SubscriptionId } from '../../domain/subscription.ts';
import { RAILS } from '../../domain/subscription.ts';
import type { Verdict } from '../../domain/verdict.ts';
import { RecordChangedError } from '../../errors.ts';
import type {
  Attempt,
  AttemptRecord,
  Background,
  BackgroundQuery,
  OpenAttemptPage,
  PipelineStore,
  RecordState,
  RecordStory,
  Resolution,
  StateChange,
} from '../../ports/pipeline.ts';
import { ABANDONED, lastSentAt } from '../../ports/pipeline.ts';
import type { RecordRef } from '../../ports/runs.ts';
import type { PageKey } from '../../ports/subscriptions.ts';
import type { Timer } from '../../ports/timer.ts';
import type { Write } from '../../ports/transaction.ts';
import { DynamoAchMeters } from './ach-meters.ts';
import { DynamoAchWatches } from './ach-watches.ts';
import type { BatchReader } from './batch-reader.ts';
import type { Condition } from './conditions.ts';
import { rowIsNew, unlessRefused } from './conditions.ts';
import { duePage } from './due-page.ts';
import type { Due, PipelineKey } from './item-codec.ts';
import { DynamoMoneyList, REFUSED_REFUNDS, STALE_RETURNS } from './money-list.ts';
import type { StateContent } from './pipeline-items.ts';
import { items, keys } from './pipeline-items.ts';
import { queryToTheEnd } from './query.ts';
import type { RawItem } from './raw-item.ts';
import { readRows } from './read-rows.ts';
import { asWrite, fromWrite, unconditional } from './transaction.ts';

export interface PipelineOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
  readonly reader: BatchReader;
  readonly timer: Pick<Timer, 'elapsedMs'>;
  /** When the janitor asks about an attempt that stayed open: after its opening, then again each time the last. */
  readonly checkDelaysMs: readonly [number, ...number[]];
}

export const OPEN_ATTEMPTS = 'open-attempts';

/** A state as it was read: of which record, and whether there was one. */
interface ReadState extends StateContent {
  readonly subscriptionId: SubscriptionId;
  readonly askedAtMs: number;
  /** What is called open was given up before. */
  readonly isTakenUpAgain?: true;
}

const stateOf = (content: ReadState): RecordState => content as unknown as RecordState;
const contentOf = (state: RecordState): ReadState => state as unknown as ReadState;

function openAttempt({ open }: ReadState): Attempt {
  if (open === null) throw new Error('there is no attempt to resolve');
  return open;
}

export class DynamoPipeline implements PipelineStore {
  readonly watches: DynamoAchWatches;
  readonly meters: DynamoAchMeters;
  readonly staleReturns: DynamoMoneyList;
  readonly refusedRefunds: DynamoMoneyList;
  private readonly options: PipelineOptions;

  constructor(options: PipelineOptions) {
    this.options = options;
    this.watches = new DynamoAchWatches(options);
    this.meters = new DynamoAchMeters(options);
    this.staleReturns = new DynamoMoneyList(options, STALE_RETURNS);
    this.refusedRefunds = new DynamoMoneyList(options, REFUSED_REFUNDS);
  }

  async readBackground({
    userId,
    subscriptionId,
    triggerId,
    accountId,
  }: BackgroundQuery): Promise<Background> {
    const everybody = (['global', ...RAILS] as const).map((scope) => keys.freeze({ scope }));
    const freezeKeys = [...everybody, keys.freeze({ scope: 'user', userId })];
    const stateKey = keys.state(subscriptionId);
    const verdictKey = keys.verdict(subscriptionId, triggerId);
    const flagKey = keys.membership(userId);
    const quarantinedKey = keys.quarantined(userId);
    const blockKey = accountId === null ? null : keys.achBlock(accountId);
    const wanted = [...freezeKeys, stateKey, verdictKey, flagKey, quarantinedKey];
    const askedAtMs = this.options.timer.elapsedMs();
    const found = await this.options.reader.get(blockKey === null ? wanted : [...wanted, blockKey]);
    const item = ({ pk, sk }: PipelineKey): RawItem | undefined =>
      found.find((one) => one['pk']?.S === pk && one['sk']?.S === sk);

    const state = item(stateKey);
    const verdict = item(verdictKey);
    const block = blockKey === null ? undefined : item(blockKey);
    return {
      state: stateOf({
        ...(state === undefined ? { revision: 0, open: null, checks: 0, past: [] } : items.state.read(state)),
        subscriptionId,
        askedAtMs,
      }),
      freezes: freezeKeys.flatMap((key): Freeze[] => {
        const freeze = item(key);
        if (freeze === undefined) return [];
        const { target, until } = items.freeze.read(freeze);
        return [{ scope: target.scope, until }];
      }),
      achBlock: block === undefined ? null : items.achBlock.read(block).returnCode,
      membershipEvent: membershipEvent(item(flagKey), item(quarantinedKey)),
      verdict: verdict === undefined ? null : items.verdict.read(verdict),
    };
  }

  open(state: RecordState, attempt: Attempt): StateChange {
    const before = contentOf(state);
    if (before.open !== null)
      throw new Error(`attempt ${before.open.attemptId} is open: another may not begin`);
    const next = { ...before, open: attempt, checks: 0 };
    return this.change(before, next, [this.opening(attempt)]);
  }

  resolve(state: RecordState, resolution: Resolution): StateChange {
    const before = contentOf(state);
    const open = openAttempt(before);
    const next = { ...before, open: null, checks: 0, past: [...before.past, ...pastOf(open, resolution)] };
    return this.change(before, next, [this.resolution(open, resolution, standsAs(before))]);
  }

  takenUpAgain(state: RecordState, attempt: AttemptRecord): RecordState {
    const before = contentOf(state);
    if (before.open !== null)
      throw new Error(`attempt ${before.open.attemptId} is open: ${attempt.attemptId} cannot be`);
    const { rail, openedAt } = attempt;
    const past = before.past.filter((one) => one.rail !== rail || one.at !== openedAt);
    return stateOf({ ...before, open: attempt, past, isTakenUpAgain: true });
  }

  replace(state: RecordState, resolution: Resolution, attempt: Attempt): StateChange {
    const before = contentOf(state);
    const open = openAttempt(before);
    const next = { ...before, open: attempt, checks: 0, past: [...before.past, ...pastOf(open, resolution)] };
    return this.change(before, next, [
      this.resolution(open, resolution, standsAs(before)),
      this.opening(attempt),
    ]);
  }

  refuse(
    state: RecordState,
    { process, at }: { readonly process: PastAttempt['process']; readonly at: Instant },
  ): StateChange {
    const before = contentOf(state);
    const past: PastAttempt = { process, at, rail: null, result: 'REFUSED' };
    return this.change(before, { ...before, past: [...before.past, past] }, []);
  }

  settleEntry(state: RecordState, entry: AchEntry, outcome: AchOutcome): StateChange {
    const before = contentOf(state);
    return this.change(before, { ...before, past: withSettled(before.past, entry, outcome) }, []);
  }

  blockAccount(accountId: string, returnCode: string): Write {
    return this.putAlways(items.achBlock.write(accountId, returnCode));
  }

  async saveBlock(accountId: string, returnCode: string): Promise<void> {
    const Item = items.achBlock.write(accountId, returnCode);
    await this.options.client.send(new PutItemCommand({ TableName: this.options.table, Item }));
  }

  async attemptsOn(subscriptionId: SubscriptionId): Promise<AttemptRecord[]> {
    const { pk } = keys.state(subscriptionId);
    const found = await queryToTheEnd(this.options.client, {
      TableName: this.options.table,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :attempt)',
      ExpressionAttributeValues: { ':pk': { S: pk }, ':attempt': { S: 'ATTEMPT#' } },
      ConsistentRead: true,
    });
    return found.map((item) => items.attempt.read(item));
  }

  async storyOf(subscriptionId: SubscriptionId): Promise<RecordStory> {
    const found = await queryToTheEnd(this.options.client, {
      TableName: this.options.table,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': { S: keys.state(subscriptionId).pk } },
      ConsistentRead: true,
    });
    const unreadable: Error[] = [];
    const kept = <T>(prefix: string, read: (item: RawItem) => T): T[] => {
      const rows = readRows(
        found.filter(({ sk }) => sk?.S?.startsWith(prefix)),
        read,
      );
      unreadable.push(...rows.malformed);
      return rows.found;
    };
    const [state] = kept('STATE', items.state.read);
    return {
      attempts: kept('ATTEMPT#', items.attempt.read),
      verdicts: kept('VERDICT#', items.verdict.read),
      open: state === undefined ? null : this.openOf(state),
      unreadable,
    };
  }

  /**
   * Unfenced: it changes nothing but when to ask and when to give up, and only if the state has not changed. The
   * janitor starts from the beginning: what it was told before says nothing of what is sent now.
   */
  async sendingAgain(state: RecordState, at: Instant, along: readonly Write[]): Promise<RecordState> {
    const before = contentOf(state);
    const open = { ...openAttempt(before), sentAgainAt: at };
    const change = this.change(before, { ...before, open, checks: 0 }, [
      this.resolution(open, null, stillOpen),
    ]);
    const TransactItems = [...change.writes, ...along].map((write) => fromWrite(write).item);
    const request = new TransactWriteItemsCommand({ TransactItems });
    if (!(await unlessRefused(() => this.options.client.send(request))))
      throw new RecordChangedError(changedMeanwhile(before.subscriptionId));
    return change.state;
  }

  /** Unfenced: it changes nothing but when to ask again, and only if the state has not changed. */
  async askAgainLater(state: RecordState): Promise<void> {
    const before = contentOf(state);
    const { subscriptionId, open, past } = before;
    const content = { revision: before.revision + 1, open, checks: before.checks + 1, past };
    const Item = items.state.write(subscriptionId, content, this.dueOf(content));
    await this.options.client.send(
      new PutItemCommand({ TableName: this.options.table, Item, ...hasRevision(before.revision) }),
    );
  }

  async openAttempts(asOf: Instant, key: PageKey | null): Promise<OpenAttemptPage> {
    const { found, unreadable, nextKey } = await duePage(
      this.options,
      { list: OPEN_ATTEMPTS, asOf, key },
      (item) => items.state.read(item).open,
    );
    return { attempts: found.filter((open) => open !== null), unreadable, nextKey };
  }

  judge(verdict: Verdict): Write {
    return this.putAlways(items.verdict.write(verdict));
  }

  /** Alone it is not fenced, so it must not take the place of what a later holder of the lock has found. */
  async saveVerdict(verdict: Verdict): Promise<void> {
    await this.saveIf(notJudged, verdict);
  }

  /**
   * Not one transaction, because many members counted at once would conflict over the counter. It is counted first: a
   * crash in between counts a member twice, and a run that stops too early does no harm.
   */
  async hold(runId: RunId, verdict: Verdict): Promise<void> {
    await this.options.client.send(
      new UpdateItemCommand({
        TableName: this.options.table,
        Key: marshall(keys.runGuard(runId)),
        UpdateExpression: 'ADD doubtful :one',
        ExpressionAttributeValues: { ':one': { N: '1' } },
      }),
    );
    await this.saveIf(notJudged, verdict);
  }

  rememberResume(record: RecordRef, at: Instant): Promise<boolean> {
    const Item = items.resume.write(record, at);
    const request = new PutItemCommand({ TableName: this.options.table, Item, ...rowIsNew('pk') });
    return unlessRefused(() => this.options.client.send(request));
  }

  noteResume({ userId, subscriptionId }: RecordRef, at: Instant): Write {
    return this.putAlways(items.resume.write({ userId, subscriptionId }, at));
  }

  async forgetResume(subscriptionId: SubscriptionId, asOf: Instant): Promise<void> {
    const request = new DeleteItemCommand({
      TableName: this.options.table,
      Key: marshall(keys.resume(subscriptionId)),
      // It is not fenced: a later holder of the lock may have noted another wish.
      ConditionExpression: 'dueAt <= :asOf',
      ExpressionAttributeValues: { ':asOf': { S: sortableText(asOf) } },
    });
    await unlessRefused(() => this.options.client.send(request));
  }

  private saveIf(condition: Condition, verdict: Verdict): Promise<boolean> {
    const Item = items.verdict.write(verdict);
    const request = new PutItemCommand({ TableName: this.options.table, Item, ...condition });
    return unlessRefused(() => this.options.client.send(request));
  }

  private opening(attempt: Attempt): Write {
    const item = items.attempt.write({ ...attempt, resolution: null });
    return this.put(item, rowIsNew('pk'), `attempt ${attempt.attemptId} was made before`);
  }

  private resolution(attempt: Attempt, resolution: Resolution | null, condition: Condition): Write {
    const item = items.attempt.write({ ...attempt, resolution });
    return this.put(item, condition, `attempt ${attempt.attemptId} is resolved already`);
  }

  /** Only the holder of the user's lock writes a state, but a stale one must not undo what its successor wrote. */
  private change(before: ReadState, after: ReadState, writes: readonly Write[]): StateChange {
    const { subscriptionId, open, checks, past, askedAtMs } = after;
    const content: StateContent = { revision: before.revision + 1, open, checks, past };
    const item = items.state.write(subscriptionId, content, this.dueOf(content));
    const condition = before.revision === 0 ? rowIsNew('pk') : hasRevision(before.revision);
    const state = this.put(item, condition, changedMeanwhile(subscriptionId));
    return { state: stateOf({ ...content, subscriptionId, askedAtMs }), writes: [...writes, state] };
  }

  private openOf(content: StateContent): RecordStory['open'] {
    const due = this.dueOf(content);
    return content.open === null || due === null ? null : { attempt: content.open, askedNextAt: due.at };
  }

  private dueOf({ open, checks }: StateContent): Due | null {
    if (open === null) return null;
    const delays = this.options.checkDelaysMs;
    const repeated = Math.max(0, checks - delays.length + 1) * (delays.at(-1) ?? 0);
    const afterMs = (delays[Math.min(checks, delays.length - 1)] ?? 0) + repeated;
    return { list: OPEN_ATTEMPTS, at: plusMs(lastSentAt(open), afterMs) };
  }

  private putAlways(item: RawItem): Write {
    return unconditional({ Put: { TableName: this.options.table, Item: item } });
  }

  private put(item: RawItem, condition: Condition, refusal: string): Write {
    return asWrite({
      item: { Put: { TableName: this.options.table, Item: item, ...condition } },
      refused: () => new RecordChangedError(refusal),
    });
  }
}

const changedMeanwhile = (subscriptionId: SubscriptionId): string =>
  `the attempts of ${subscriptionId} changed meanwhile`;

/** There is no verdict yet, or only one that is to be looked at again. */
const notJudged: Condition = {
  ConditionExpression: 'attribute_not_exists(pk) OR verdict IN (:held, :locked, :failed)',
  ExpressionAttributeValues: {
    ':held': { S: 'held' },
    ':locked': { S: 'locked' },
    ':failed': { S: 'failed' },
  },
};

/** An attempt is resolved once. */
const stillOpen: Condition = {
  ConditionExpression: 'attribute_type(#resolution, :null)',
  ExpressionAttributeNames: { '#resolution': 'resolution' },
  ExpressionAttributeValues: { ':null': { S: 'NULL' } },
};

/** Exception: an abandoned attempt may be resolved once more when the processor knows it after all. */
const wasGivenUp: Condition = {
  ConditionExpression: '#resolution.#code = :abandoned',
  ExpressionAttributeNames: { '#resolution': 'resolution', '#code': 'errorCode' },
  ExpressionAttributeValues: { ':abandoned': { S: ABANDONED } },
};

/** How an attempt has to stand for an answer to be written to it. */
const standsAs = ({ isTakenUpAgain }: ReadState): Condition =>
  isTakenUpAgain === true ? wasGivenUp : stillOpen;

const hasRevision = (revision: number): Condition => ({
  ConditionExpression: '#revision = :seen',
  ExpressionAttributeNames: { '#revision': 'revision' },
  ExpressionAttributeValues: { ':seen': { N: String(revision) } },
});

/** An event that waits says more than one in quarantine: no path collects before it is applied. */
function membershipEvent(
  flag: RawItem | undefined,
  quarantined: RawItem | undefined,
): Facts['membershipEvent'] {
  if (flag !== undefined) return 'unapplied';
  // The item stays when the last event has gone; its set does not.
  return quarantined?.['ids'] === undefined ? null : 'quarantined';
}

/**
 * Dated by its opening: that is when the day's limit was used up. A refund asked nobody for money, nor did what never
 * reached the processor.
 */
function pastOf(attempt: Attempt, { status, errorCode }: Resolution): PastAttempt[] {
  const { process, accountId, rail, openedAt: at, refundOf } = attempt;
  if (refundOf !== null || errorCode === ABANDONED) return [];
  if (rail === 'ACH') return [{ process, at, rail, result: status, returnCode: null, accountId }];
  return [{ process, at, rail, result: status === 'COMPLETED' ? 'COMPLETED' : 'FAILED' }];
}
