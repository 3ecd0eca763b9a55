import type { TestProject } from 'vitest/node';
import { startHttpFront } from '../../sim/dynamodb/http-front.ts';
import { MemoryDynamo } from '../../sim/dynamodb/memory-dynamo.ts';

/** For the tests that need a DynamoDB and nothing else: the simulation's. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const front = await startHttpFront(new MemoryDynamo({ nowMs: Date.now }));
  project.provide('stack', { dynamodbUrl: front.url, redisUrl: '', kinesisUrl: '' });
  return front.close;
}
