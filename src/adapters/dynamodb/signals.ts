import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { z } from 'zod';
import type { Instant } from '../../domain/instant.ts';
import { msOf } from '../../domain/instant.ts';
import type { Signal } from '../../domain/signals.ts';
import type { SignalStore } from '../../ports/signals.ts';
import type { Condition } from './conditions.ts';
import { unlessRefused } from './conditions.ts';
import { read, write } from './item-codec.ts';

export interface SignalsOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
}

const taken = z.object({ signalId: z.string(), takenAtMs: z.int() });

type SignalKey = Pick<Signal, 'userId' | 'kind'>;

const keyOf = ({ userId, kind }: SignalKey) => ({ pk: `SIGNAL#${userId}`, sk: kind });

export class DynamoSignals implements SignalStore {
  private readonly options: SignalsOptions;

  constructor(options: SignalsOptions) {
    this.options = options;
  }

  async take(
    { signalId, ...key }: SignalKey & Pick<Signal, 'signalId'>,
    at: Instant,
    withinMs: number,
  ): Promise<{ readonly signalId: string }> {
    const takenAtMs = msOf(at);
    const Item = write(
      taken,
      { signalId, takenAtMs },
      { ...keyOf(key), expires_at: Math.ceil((takenAtMs + withinMs) / 1000) },
    );
    const request = new PutItemCommand({
      TableName: this.options.table,
      Item,
      ...noneNear(takenAtMs, withinMs),
    });
    if (await unlessRefused(() => this.options.client.send(request))) return { signalId };
    // Gone when it expired just now: then nothing is near any more, and this one counts by itself.
    return (await this.find(key)) ?? { signalId };
  }

  private async find(key: SignalKey): Promise<z.output<typeof taken> | null> {
    const Key = marshall(keyOf(key));
    const request = new GetItemCommand({ TableName: this.options.table, Key, ConsistentRead: true });
    const { Item } = await this.options.client.send(request);
    return Item === undefined ? null : read(taken, Item);
  }
}

/** On either side: a clock that was set back must not make one signal stand for all that come. */
const noneNear = (takenAtMs: number, withinMs: number): Condition => ({
  ConditionExpression: 'attribute_not_exists(pk) OR takenAtMs <= :before OR takenAtMs >= :after',
  ExpressionAttributeValues: {
    ':before': { N: String(takenAtMs - withinMs) },
    ':after': { N: String(takenAtMs + withinMs) },
  },
});
