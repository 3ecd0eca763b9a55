import { randomUUID } from 'node:crypto';
import { DynamoRequests } from '../../src/adapters/dynamodb/requests.ts';
import type { RequestDependencies } from '../../src/app/accept-requests.ts';
import { acceptRequests } from '../../src/app/accept-requests.ts';
import type { AnswerDependencies } from '../../src/app/answer-request.ts';
import type { Log } from '../../src/ports/log.ts';
import type { CollectionOrder, CollectionRequest } from '../../src/ports/requests.ts';
import type { RecordRef } from '../../src/ports/runs.ts';
import { floatDesk } from './float-desk.ts';
import type { World } from './world.ts';

/** Requests in a world, with a queue that tests can look into and cut off. */
export interface RequestDesk {
  readonly requests: DynamoRequests;
  readonly dependencies: RequestDependencies & AnswerDependencies;
  /** What was handed to the workers. */
  readonly jobs: CollectionRequest[];
  /** What was logged as a warning or an error. */
  readonly complaints: string[];
  queueIsDown: boolean;
  jobsOf(request: { readonly requestId: string }): number[];
  accept(record: RecordRef, order?: Partial<CollectionOrder>): Promise<CollectionRequest>;
  stored(request: { readonly requestId: string }): Promise<CollectionRequest>;
}

export function requestDesk(here: World): RequestDesk {
  const requests = new DynamoRequests({ client: here.store.client, table: here.store.tables.pipeline });
  const jobs: CollectionRequest[] = [];
  const complaints: string[] = [];
  const complain = (_fields: object, message: string): void => void complaints.push(message);
  const log: Log = {
    debug: () => undefined,
    info: () => undefined,
    warn: complain,
    error: complain,
    child: () => log,
  };
  const desk: RequestDesk = {
    requests,
    dependencies: {
      ...here.dependencies,
      ...floatDesk(here).dependencies,
      requests,
      log,
      enqueue: async (request) => {
        if (desk.queueIsDown) throw new Error('connection refused');
        jobs.push(request);
      },
    },
    jobs,
    complaints,
    queueIsDown: false,
    jobsOf: ({ requestId }) =>
      jobs.filter((job) => job.requestId === requestId).map(({ generation }) => generation),
    async accept({ userId, subscriptionId }, order = {}) {
      const [request] = await acceptRequests(desk.dependencies, [
        {
          requestId: `request-${randomUUID()}`,
          path: 'MANUAL_REPAYMENT',
          userId,
          subscriptionId,
          by: 'member',
          ...order,
        },
      ]);
      return request!;
    },
    async stored({ requestId }) {
      const found = await requests.get(requestId);
      if (found === null) throw new Error(`no request ${requestId}`);
      return found;
    },
  };
  return desk;
}
