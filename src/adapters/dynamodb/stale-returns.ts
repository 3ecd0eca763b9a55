import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { z } from 'zod';
import type { Instant } from '../../domain/instant.ts';
import type { StaleReturn, StaleReturnPage, StaleReturns } from '../../ports/stale-returns.ts';
import type { PageKey } from '../../ports/subscriptions.ts';
import type { Write } from '../../ports/transaction.ts';
import { instant, money } from '../codecs.ts';
import { duePage } from './due-page.ts';
import { dueAttributes, read, subscriptionId, userId, write } from './item-codec.ts';
import { unconditional } from './transaction.ts';

const STALE_RETURNS = 'stale-returns';

const staleReturn = z.object({
  userId,
  subscriptionId,
  confirmationId: z.string(),
  returnCode: z.string().nullable(),
  amount: money,
  at: instant,
}) satisfies z.ZodType<StaleReturn>;

export interface StaleReturnsOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
}

export class DynamoStaleReturns implements StaleReturns {
  private readonly options: StaleReturnsOptions;

  constructor(options: StaleReturnsOptions) {
    this.options = options;
  }

  note(stale: StaleReturn): Write {
    const Item = write(staleReturn, stale, {
      pk: `SUB#${stale.subscriptionId}`,
      sk: 'STALE_RETURN',
      ...dueAttributes(stale.subscriptionId, { list: STALE_RETURNS, at: stale.at }),
    });
    return unconditional({ Put: { TableName: this.options.table, Item } });
  }

  async list(asOf: Instant, key: PageKey | null): Promise<StaleReturnPage> {
    const { found, ...page } = await duePage(this.options, { list: STALE_RETURNS, asOf, key }, (item) =>
      read(staleReturn, item),
    );
    return { returns: found, ...page };
  }
}
