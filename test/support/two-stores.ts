import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as sdk from '@aws-sdk/client-dynamodb';
import type { MemoryDynamo } from '../../sim/dynamodb/memory-dynamo.ts';
import type { RawRequest } from './random-requests.ts';

/**
 * Sends each request to both, and gives each one's outcomes. What is answered in pages is read to its end.
 */
export class TwoStores {
  private readonly client: DynamoDBClient;
  private readonly store: MemoryDynamo;

  constructor(client: DynamoDBClient, store: MemoryDynamo) {
    this.client = client;
    this.store = store;
  }

  async send(request: RawRequest): Promise<{ dynamo: Outcome[]; simulation: Outcome[] }> {
    const dynamo = await pages(request, (page) => byDynamo(this.client, page));
    const simulation = await pages(request, (page) => bySimulation(this.store, page));
    return { dynamo: inOrder(request, dynamo), simulation: inOrder(request, simulation) };
  }
}

const MOST_PAGES = 20;

async function pages(
  request: RawRequest,
  send: (request: RawRequest) => Promise<Outcome>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let start: unknown = undefined;
  do {
    const from = start === undefined ? {} : { ExclusiveStartKey: start };
    const outcome = await send({ ...request, input: { ...request.input, ...from } });
    outcomes.push(outcome);
    start = outcome['LastEvaluatedKey'];
  } while (start !== undefined && outcomes.length < MOST_PAGES);
  return outcomes;
}

/** Partitions of a scan, entries of an index under one key and items of a batch come in no order that is promised. */
function inOrder({ operation, input }: RawRequest, outcomes: Outcome[]): Outcome[] {
  const isInOrder = operation !== 'Scan' && operation !== 'BatchGetItem' && input['IndexName'] === undefined;
  if (isInOrder || outcomes.some(({ error }) => error !== undefined)) return outcomes;
  const items = outcomes.flatMap(
    (page) => (page['Items'] ?? Object.values(page['Responses'] as object).flat()) as unknown[],
  );
  return [{ pages: outcomes.length, items: sorted(items) }];
}

/** An answer or a failure, as far as two stores must agree on it: an error by its name and reasons, not its words. */
export type Outcome = Readonly<Record<string, unknown>>;

const byDynamo = (client: DynamoDBClient, request: RawRequest): Promise<Outcome> =>
  outcomeOf(async () => {
    const Command = sdk[`${request.operation}Command` as 'GetItemCommand'];
    return client.send(new Command(request.input as never));
  });

const bySimulation = (store: MemoryDynamo, request: RawRequest): Promise<Outcome> =>
  outcomeOf(async () => store.execute(request.operation, request.input));

interface Failure {
  readonly Item?: Record<string, AttributeValue>;
  readonly CancellationReasons?: sdk.CancellationReason[];
}

async function outcomeOf(answer: () => Promise<object>): Promise<Outcome> {
  try {
    return comparable({ ...(await answer()), $metadata: undefined, ConsumedCapacity: undefined }) as Outcome;
  } catch (error) {
    const { name, message, Item, CancellationReasons } = error as Error & Failure;
    const reasons = CancellationReasons?.map((reason) => ({
      code: reason.Code,
      item: comparable(reason.Item),
    }));
    // AWS cancels a transaction for an update that its item makes impossible; DynamoDB Local calls the request invalid.
    if (reasons?.some(({ code }) => code === 'ValidationError') === true)
      return { error: 'ValidationException' };
    return { error: name, item: comparable(Item), reasons, ...(name === 'Error' ? { message } : {}) };
  }
}

/** A set has no order, and neither have the items of a batch or of one place in an index. */
function comparable(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, part]) => part !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, part]: [string, unknown]) => [name, isSet(name, part) ? sorted(part) : comparable(part)]),
  );
}

const isSet = (name: string, value: unknown): value is AttributeValue[] =>
  ['SS', 'NS', 'BS'].includes(name) && Array.isArray(value);

const sorted = (values: readonly unknown[]): unknown[] =>
  values.map(comparable).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
