import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { z } from 'zod';
import type { Instant } from '../../domain/instant.ts';
import { msOf, plusDays } from '../../domain/instant.ts';
import type { Signal } from '../../domain/signals.ts';
import type { SignalStore } from '../../ports/signals.ts';
import type { Condition } from './conditions.ts';
import { rowIsNew, unlessRefused } from './conditions.ts';
import type { PipelineKey } from './item-codec.ts';
import { read, write } from './item-codec.ts';
import type { RawItem } from './raw-item.ts';

export interface SignalsOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
}

/*
 *   SIGNAL#user  kind         the latest that counts by itself
 *   SIGNAL#user  kind#signal  what a signal was counted as, for when it is sent again
 */

/** A signal is of one day, and a sender that repeats it does so soon. */
const REMEMBERED_DAYS = 3;

const taken = z.object({ signalId: z.string(), takenAtMs: z.int() });
const counted = z.object({ countsAs: z.string() });

type SignalKey = Pick<Signal, 'signalId' | 'userId' | 'kind'>;

const latestKey = ({ userId, kind }: SignalKey) => ({ pk: `SIGNAL#${userId}`, sk: kind });
const countedKey = ({ userId, kind, signalId }: SignalKey) => ({
  pk: `SIGNAL#${userId}`,
  sk: `${kind}#${signalId}`,
});

export class DynamoSignals implements SignalStore {
  private readonly options: SignalsOptions;

  constructor(options: SignalsOptions) {
    this.options = options;
  }

  /**
   * What the signal counts as is stored before any request is made for it. After a crash before that, the same signal
   * may be counted differently.
   */
  async take(signal: SignalKey, at: Instant, withinMs: number): Promise<{ readonly signalId: string }> {
    const before = await this.countedAs(signal);
    if (before !== null) return { signalId: before };
    const countsAs = await this.nearest(signal, msOf(at), withinMs);
    const expires_at = Math.ceil(msOf(plusDays(at, REMEMBERED_DAYS)) / 1000);
    const Item = write(counted, { countsAs }, { ...countedKey(signal), expires_at });
    if (await this.put({ Item, ...rowIsNew('pk') })) return { signalId: countsAs };
    // Sent twice at once: what was said first stands.
    return { signalId: (await this.countedAs(signal)) ?? countsAs };
  }

  private async countedAs(signal: SignalKey): Promise<string | null> {
    const item = await this.find(countedKey(signal));
    return item === null ? null : read(counted, item).countsAs;
  }

  private async nearest(signal: SignalKey, takenAtMs: number, withinMs: number): Promise<string> {
    const { signalId } = signal;
    const Item = write(
      taken,
      { signalId, takenAtMs },
      { ...latestKey(signal), expires_at: Math.ceil((takenAtMs + withinMs) / 1000) },
    );
    if (await this.put({ Item, ...noneNear(takenAtMs, withinMs) })) return signalId;
    const latest = await this.find(latestKey(signal));
    // Gone when it expired just now: then nothing is near any more, and this one counts by itself.
    return latest === null ? signalId : read(taken, latest).signalId;
  }

  /** False when a condition refused it. */
  private put(request: { readonly Item: RawItem } & Condition): Promise<boolean> {
    const command = new PutItemCommand({ TableName: this.options.table, ...request });
    return unlessRefused(() => this.options.client.send(command));
  }

  private async find(key: PipelineKey): Promise<RawItem | null> {
    const Key = marshall(key);
    const request = new GetItemCommand({ TableName: this.options.table, Key, ConsistentRead: true });
    const { Item } = await this.options.client.send(request);
    return Item ?? null;
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
