import { paginateScan } from '@aws-sdk/client-dynamodb';
import { GetRecordsCommand, GetShardIteratorCommand, ListShardsCommand } from '@aws-sdk/client-kinesis';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { z } from 'zod';
import type { PutEvent } from './book.ts';
import type { DealtWith, LedgerLine, Row } from './checks.ts';
import { changeName, eventName } from './checks.ts';
import type { Ground } from './ground.ts';

/* What is stored and was told, read with eyes of its own: nothing here is shared with the processes that wrote it. */

type Item = Readonly<Record<string, unknown>>;

export interface PipelineState {
  /** What is still to be dealt with, by the name of its list. */
  readonly open: ReadonlyMap<string, number>;
  /** When each run began. */
  readonly runs: ReadonlyMap<string, string>;
  readonly dealtWith: DealtWith;
}

const run = z.object({ pk: z.literal('RUNS'), runId: z.string(), startedAt: z.string() });
const done = z.object({
  pk: z.string().regex(/^EVENT#/),
  sk: z.literal('DONE'),
  as: z.enum(['applied', 'quarantined', 'dropped']),
  outcome: z.object({ reason: z.string().min(1) }),
});

export async function readPipeline(ground: Ground): Promise<PipelineState> {
  const open = new Map<string, number>();
  const runs = new Map<string, string>();
  const [applied, quarantined] = [new Set<string>(), new Set<string>()];
  for await (const item of scan(ground, ground.tables.pipeline)) {
    const list = text(item['dueList']).replace(/#\d+$/, '');
    if (list !== '') open.set(list, (open.get(list) ?? 0) + 1);
    const anyRun = run.safeParse(item);
    if (anyRun.success) runs.set(anyRun.data.runId, anyRun.data.startedAt);
    const anyDone = done.safeParse(item);
    if (anyDone.success) {
      const [, stream = '', ...identity] = anyDone.data.pk.split('#');
      const name = eventName({ stream, identity: identity.join('#') });
      (anyDone.data.as === 'applied' ? applied : quarantined).add(name);
    }
  }
  return { open, runs, dealtWith: { applied, quarantined } };
}

const UNSET = '0001-01-01T00:00:00Z';

export async function readRows(ground: Ground): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const item of scan(ground, ground.tables.billing)) {
    const initialRunDate = text(item['initial_run_date']);
    rows.push({
      userId: text(item['user_id']),
      subscriptionId: text(item['subscription_id']),
      status: text(item['billing_status']),
      billingDate: text(item['billing_date']),
      attempted: initialRunDate !== '' && initialRunDate !== UNSET,
      updatedEvent: text(item['updated_event']),
      lastRunDate: text(item['last_run_date']),
    });
  }
  return rows;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

async function* scan({ dynamodb }: Ground, table: string): AsyncGenerator<Item> {
  const input = { TableName: table, ConsistentRead: true };
  for await (const { Items = [] } of paginateScan({ client: dynamodb }, input))
    yield* Items.map((item) => unmarshall(item));
}

const payment = z.object({ kind: z.string(), reference_id: z.string(), confirmation_id: z.string() });
const moved = payment.extend({ effect: z.enum(['debit', 'credit']) });
const sent = payment
  .extend({ type: z.literal('payment.applied'), status: z.literal('ACHSENT') })
  .transform((entry) => ({ ...entry, effect: 'sent' as const }));
const published = z.object({
  callback_type: z.string(),
  confirmation_id: z.string(),
  user_id: z.string(),
});
const page = z.object({ entries: z.array(z.unknown()), next: z.int().nullable() });

/** Everything that moved or was sent on its way, in the order in which it did. */
export async function readMoney({ bankUrl }: Ground): Promise<LedgerLine[]> {
  const lines = await ledger(bankUrl, '');
  return lines.flatMap((line) => moved.safeParse(line).data ?? sent.safeParse(line).data ?? []);
}

/** What the bank has put on the stream. */
export async function readCallbacks({ bankUrl }: Ground): Promise<PutEvent[]> {
  const entries = z.array(published).parse(await ledger(bankUrl, '&type=callback.published'));
  return entries.map(({ callback_type: type, confirmation_id, user_id: userId }) => ({
    stream: 'payments',
    identity: `${confirmation_id}#${type}`,
    userId,
    type,
    isGood: true,
  }));
}

async function ledger(bankUrl: string, filter: string): Promise<unknown[]> {
  const lines: unknown[] = [];
  for (let after: number | null = 0; after !== null;) {
    const response = await fetch(`${bankUrl}/ledger?limit=5000&after=${after}${filter}`);
    const { entries, next }: z.infer<typeof page> = page.parse(await response.json());
    lines.push(...entries);
    after = next;
  }
  return lines;
}

const change = z.object({ data: z.object({ subscription_id: z.string(), last_run_date: z.string() }) });

/** The changes that the subscriptions stream carried, from its beginning. */
export async function readTold({ kinesis, changesStream: StreamName }: Ground): Promise<Set<string>> {
  const told = new Set<string>();
  const { Shards = [] } = await kinesis.send(new ListShardsCommand({ StreamName }));
  for (const { ShardId } of Shards) {
    const start = { StreamName, ShardId, ShardIteratorType: 'TRIM_HORIZON' } as const;
    let next = (await kinesis.send(new GetShardIteratorCommand(start))).ShardIterator;
    // The emulator gives everything that there is, and nothing when there is no more.
    for (let isMore = true; isMore && next !== undefined;) {
      const { Records = [], NextShardIterator } = await kinesis.send(
        new GetRecordsCommand({ ShardIterator: next }),
      );
      for (const { Data = new Uint8Array() } of Records) {
        const { data } = change.parse(JSON.parse(Buffer.from(Data).toString()));
        told.add(changeName(data.subscription_id, data.last_run_date));
      }
      next = NextShardIterator;
      isMore = Records.length > 0;
    }
  }
  return told;
}
