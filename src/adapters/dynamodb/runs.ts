import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetItemCommand, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Instant } from '../../domain/instant.ts';
import type { RunId } from '../../domain/runs.ts';
import { parseRunId } from '../../domain/runs.ts';
import type { SubscriptionId } from '../../domain/subscription.ts';
import type { Verdict } from '../../domain/verdict.ts';
import type { Log } from '../../ports/log.ts';
import type { RecordRef, Run, RunPosition, RunStore, RunningRuns } from '../../ports/runs.ts';
import type { PageKey } from '../../ports/subscriptions.ts';
import type { BatchReader } from './batch-reader.ts';
import type { Condition } from './conditions.ts';
import { rowIsNew, unlessRefused } from './conditions.ts';
import { pageOfParts } from './list-parts.ts';
import { DUE_LIST_INDEX, RESUMES, RUNNING_RUNS, TRIGGER_INDEX, items, keys } from './pipeline-items.ts';
import type { RawItem } from './raw-item.ts';
import { readRows } from './read-rows.ts';

export interface RunsOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
  readonly reader: BatchReader;
  readonly log: Log;
}

export class DynamoRuns implements RunStore {
  private readonly options: RunsOptions;

  constructor(options: RunsOptions) {
    this.options = options;
  }

  start(run: Run): Promise<boolean> {
    return this.put(run, rowIsNew('pk'));
  }

  advance(from: RunPosition, run: Run): Promise<boolean> {
    return this.put(run, standsAt(from));
  }

  async get(runId: RunId): Promise<Run | null> {
    const named = parseRunId(runId);
    if (named === null) return null;
    const Key = marshall(keys.run(named.process, named.tick));
    const { Item } = await this.options.client.send(
      new GetItemCommand({ TableName: this.options.table, Key, ConsistentRead: true }),
    );
    return Item === undefined ? null : items.run.read(Item);
  }

  async getAll(runIds: readonly RunId[]): Promise<Run[]> {
    const wanted = runIds.flatMap((runId) => parseRunId(runId) ?? []);
    const found = await this.options.reader.get(wanted.map(({ process, tick }) => keys.run(process, tick)));
    return this.readable(found, items.run.read);
  }

  async list(limit: number): Promise<Run[]> {
    const { Items = [] } = await this.options.client.send(
      new QueryCommand({
        TableName: this.options.table,
        KeyConditionExpression: 'pk = :runs',
        ExpressionAttributeValues: { ':runs': { S: 'RUNS' } },
        ScanIndexForward: false,
        ConsistentRead: true,
        Limit: limit,
      }),
    );
    return this.readable(Items, items.run.read);
  }

  async running(): Promise<RunningRuns> {
    const runs: Run[] = [];
    const unreadable: Error[] = [];
    let key: PageKey | null = null;
    do {
      const page = await this.listed(RUNNING_RUNS, key);
      const read = readRows(page.items, items.run.read);
      runs.push(...read.found);
      unreadable.push(...read.malformed);
      key = page.nextKey;
    } while (key !== null);
    return { runs, unreadable };
  }

  async since(now: Instant): Promise<Instant> {
    const { client, table: TableName } = this.options;
    const known = await this.knownSince();
    if (known !== null) return known;
    await unlessRefused(() =>
      client.send(new PutItemCommand({ TableName, Item: items.schedule.write(now), ...rowIsNew('pk') })),
    );
    return (await this.knownSince()) ?? now;
  }

  async doubtful(runId: RunId): Promise<number> {
    const [guard] = await this.options.reader.get([keys.runGuard(runId)]);
    return guard === undefined ? 0 : items.runGuard.read(guard).doubtful;
  }

  async resumes(key: PageKey | null): Promise<{ records: RecordRef[]; nextKey: PageKey | null }> {
    const page = await this.listed(RESUMES, key);
    return { records: this.readable(page.items, items.resume.read), nextKey: page.nextKey };
  }

  async considered(runId: RunId, subscriptionIds: readonly string[]): Promise<ReadonlySet<string>> {
    const wanted = subscriptionIds.map((id) => keys.verdict(id as SubscriptionId, runId));
    const found = await this.options.reader.get(wanted);
    const verdicts = found.map((item) => items.verdict.read(item));
    return new Set(
      verdicts.filter(({ verdict }) => verdict !== 'held').map((verdict) => verdict.subscriptionId),
    );
  }

  async verdicts(
    runId: RunId,
    key: PageKey | null,
  ): Promise<{ verdicts: Verdict[]; nextKey: PageKey | null }> {
    const page = await pageOfParts(this.options.client, runId, key, (part) => ({
      TableName: this.options.table,
      IndexName: TRIGGER_INDEX,
      KeyConditionExpression: 'triggerPart = :part',
      ExpressionAttributeValues: { ':part': { S: part } },
    }));
    return { verdicts: page.items.map((item: RawItem) => items.verdict.read(item)), nextKey: page.nextKey };
  }

  /** One that cannot be read keeps no other from being found, and somebody hears of it. */
  private readable<T>(rows: readonly RawItem[], read: (item: RawItem) => T): T[] {
    const { found, malformed } = readRows(rows, read);
    for (const error of malformed) this.options.log.error({ err: error }, 'a row of the runs cannot be read');
    return found;
  }

  private async knownSince(): Promise<Instant | null> {
    const { Item } = await this.options.client.send(
      new GetItemCommand({
        TableName: this.options.table,
        Key: marshall(keys.schedule),
        ConsistentRead: true,
      }),
    );
    return Item === undefined ? null : items.schedule.read(Item);
  }

  private listed(list: string, key: PageKey | null) {
    return pageOfParts(this.options.client, list, key, (part) => ({
      TableName: this.options.table,
      IndexName: DUE_LIST_INDEX,
      KeyConditionExpression: 'dueList = :part',
      ExpressionAttributeValues: { ':part': { S: part } },
    }));
  }

  private put(run: Run, condition: Condition): Promise<boolean> {
    const request = new PutItemCommand({
      TableName: this.options.table,
      Item: items.run.write(run),
      ...condition,
    });
    return unlessRefused(() => this.options.client.send(request));
  }
}

/** No worker has taken this page meanwhile. */
const standsAt = ({ pass, page }: RunPosition): Condition => ({
  ConditionExpression: '#pass = :pass AND #page = :page AND #status = :running',
  ExpressionAttributeNames: { '#pass': 'pass', '#page': 'page', '#status': 'status' },
  ExpressionAttributeValues: {
    ':pass': { N: String(pass) },
    ':page': { N: String(page) },
    ':running': { S: 'running' },
  },
});
