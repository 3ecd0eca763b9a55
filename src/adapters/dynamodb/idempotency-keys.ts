import { createHash } from 'node:crypto';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { z } from 'zod';
import type { Instant } from '../../domain/instant.ts';
import { plusDays } from '../../domain/instant.ts';
import type { IdempotencyKeys, KeptAnswer, KeyState, KeyedRequest } from '../../ports/idempotency.ts';
import { instant } from '../codecs.ts';
import { rowIsNew, unlessRefused } from './conditions.ts';
import { read, ttlSeconds, write } from './item-codec.ts';
import type { RawItem } from './raw-item.ts';

export interface IdempotencyKeysOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
}

/** Callers try again for hours, at most days. */
const KEPT_DAYS = 30;

const answer = z.object({ status: z.int(), contentType: z.string(), body: z.string() });
const claim = z.object({ hash: z.string(), since: instant.optional(), answer: answer.optional() });

/** Hashed: what callers choose may be long, and may name a person. */
const keyOf = ({ caller, key }: Pick<KeyedRequest, 'caller' | 'key'>) => {
  const hash = createHash('sha256')
    .update(JSON.stringify([caller, key]))
    .digest('hex');
  return { pk: `IDEMPOTENCY#${hash}`, sk: 'IDEMPOTENCY' };
};

export class DynamoIdempotencyKeys implements IdempotencyKeys {
  private readonly options: IdempotencyKeysOptions;

  constructor(options: IdempotencyKeysOptions) {
    this.options = options;
  }

  async claim(request: KeyedRequest, at: Instant): Promise<KeyState> {
    const Item = itemOf(request, { hash: request.hash, since: at }, at);
    if (await this.put({ Item, ...rowIsNew('pk') })) return { state: 'open', since: at };
    const held = await this.get(request);
    // Gone by now: it expired, and the key is free again.
    if (held === null) return this.claim(request, at);
    if (held.hash !== request.hash) return { state: 'conflict' };
    if (held.answer !== undefined) return { state: 'answered', answer: held.answer };
    // An older version kept no time.
    return { state: 'open', since: held.since ?? at };
  }

  async keep(request: KeyedRequest, given: KeptAnswer, at: Instant): Promise<void> {
    const Item = itemOf(request, { hash: request.hash, answer: given }, at);
    await this.put({
      Item,
      ConditionExpression: 'attribute_not_exists(answer) AND #hash = :hash',
      ExpressionAttributeNames: { '#hash': 'hash' },
      ExpressionAttributeValues: { ':hash': { S: request.hash } },
    });
  }

  private async get(request: KeyedRequest): Promise<z.output<typeof claim> | null> {
    const Key = marshall(keyOf(request));
    const { Item } = await this.options.client.send(
      new GetItemCommand({ TableName: this.options.table, Key, ConsistentRead: true }),
    );
    return Item === undefined ? null : read(claim, Item);
  }

  private put(input: Omit<PutItemCommand['input'], 'TableName'>): Promise<boolean> {
    const request = new PutItemCommand({ ...input, TableName: this.options.table });
    return unlessRefused(() => this.options.client.send(request));
  }
}

const itemOf = (request: KeyedRequest, content: z.output<typeof claim>, at: Instant): RawItem =>
  write(claim, content, {
    ...keyOf(request),
    expires_at: ttlSeconds(plusDays(at, KEPT_DAYS)),
  });
