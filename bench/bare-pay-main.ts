import { randomUUID } from 'node:crypto';
import express from 'express';
import { connectRedis } from '../queues/connection.ts';
import type { RequestJob } from '../queues/jobs.ts';
import { QUEUE_OF_REQUEST, requestJobId } from '../queues/jobs.ts';
import { QueueSet } from '../queues/queue-set.ts';

/*
 * A bare Express handler that only enqueues: no token, no checks, no key, no look at the record, and nothing stored, so that
 * what Redis forgets is lost.
 */

const { REDIS_URL = '', PORT = '' } = process.env;
const redis = connectRedis({ url: REDIS_URL, whenDown: 'wait', onError: () => undefined });
const queue = new QueueSet(redis).get(QUEUE_OF_REQUEST.MANUAL_REPAYMENT);

const app = express();
app.use(express.json());
app.post('/v1/:user_id/subscriptions/:subscription_id/pay', async (_request, response) => {
  const data: RequestJob = { requestId: randomUUID() };
  const jobId = requestJobId(data.requestId, 0);
  await queue.add('MANUAL_REPAYMENT', data, { jobId });
  response.status(202).json({ job_id: data.requestId, status_url: `/requests/${data.requestId}` });
});
app.listen(Number(PORT), () => process.send?.('up'));
process.once('SIGTERM', () => process.exit(0));
