import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import type { Instant } from '../../domain/instant.ts';
import { sweepAt } from '../../domain/sweep-delay.ts';
import type { CollectionRequest, RequestOutcome, RequestPage, RequestStore } from '../../ports/requests.ts';
import type { PageKey } from '../../ports/subscriptions.ts';
import type { Condition } from './conditions.ts';
import { rowIsNew, unlessRefused } from './conditions.ts';
import { duePage } from './due-page.ts';
import type { RawItem } from './raw-item.ts';
import { REQUESTS, readRequest, requestKey, writeAccepted, writeEnded } from './request-items.ts';

export interface RequestsOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
}

export class DynamoRequests implements RequestStore {
  private readonly options: RequestsOptions;

  constructor(options: RequestsOptions) {
    this.options = options;
  }

  add(request: CollectionRequest): Promise<boolean> {
    const item = writeAccepted(request, sweepAt(request.acceptedAt, request.generation));
    return this.put(item, rowIsNew('pk'));
  }

  async get(requestId: string): Promise<CollectionRequest | null> {
    const { Item } = await this.options.client.send(
      new GetItemCommand({
        TableName: this.options.table,
        Key: marshall(requestKey(requestId)),
        ConsistentRead: true,
      }),
    );
    return Item === undefined ? null : readRequest(Item);
  }

  close(
    request: CollectionRequest,
    {
      status,
      outcome,
      at,
    }: { readonly status: 'done' | 'failed'; readonly outcome: RequestOutcome; readonly at: Instant },
  ): Promise<boolean> {
    return this.put(writeEnded({ ...request, status, outcome }, at), stillAccepted);
  }

  async due(asOf: Instant, key: PageKey | null): Promise<RequestPage> {
    const { found, ...page } = await duePage(this.options, { list: REQUESTS, asOf, key }, readRequest);
    return { requests: found, ...page };
  }

  async handOverAgain(request: CollectionRequest, now: Instant): Promise<CollectionRequest | null> {
    const next = { ...request, generation: request.generation + 1 };
    const item = writeAccepted(next, sweepAt(now, next.generation));
    return (await this.put(item, stillOfGeneration(request.generation))) ? next : null;
  }

  private put(Item: RawItem, condition: Condition): Promise<boolean> {
    const request = new PutItemCommand({ TableName: this.options.table, Item, ...condition });
    return unlessRefused(() => this.options.client.send(request));
  }
}

/** An answer is given once; a later worker finds it. */
const stillAccepted: Condition = {
  ConditionExpression: '#status = :accepted',
  ExpressionAttributeNames: { '#status': 'status' },
  ExpressionAttributeValues: { ':accepted': { S: 'accepted' } },
};

/** No other sweeper was faster. */
const stillOfGeneration = (generation: number): Condition => ({
  ConditionExpression: '#status = :accepted AND #generation = :seen',
  ExpressionAttributeNames: { '#status': 'status', '#generation': 'generation' },
  ExpressionAttributeValues: { ':accepted': { S: 'accepted' }, ':seen': { N: String(generation) } },
});
