import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import * as sdk from '@aws-sdk/client-dynamodb';
import type { MemoryDynamo } from '../../sim/dynamodb/memory-dynamo.ts';
import type { RawRequest } from './random-requests.ts';

/** An answer or a failure, as far as two stores must agree on it: an error by its name and reasons, not its words. */
export type Outcome = Readonly<Record<string, unknown>>;

export const byDynamo = (client: DynamoDBClient, request: RawRequest): Promise<Outcome> =>
  outcomeOf(async () => {
    const Command = sdk[`${request.operation}Command` as 'GetItemCommand'];
    return client.send(new Command(request.input as never));
  });

export const bySimulation = (store: MemoryDynamo, request: RawRequest): Promise<Outcome> =>
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

export const sorted = (values: readonly unknown[]): unknown[] =>
  values.map(comparable).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
