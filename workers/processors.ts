import type { z } from 'zod';
import type * as sections from '../src/config/sections.ts';
import { collectionProcessor } from './collection-processor.ts';
import type { WorkerContext } from './context.ts';
import { janitorProcessor } from './janitor-processor.ts';
import { pageProcessor } from './page-processor.ts';
import { Registry } from './registry.ts';
import { requestProcessor } from './request-processor.ts';

/** Pages of different runs; those of one run follow each other. */
const PAGES_AT_ONCE = 4;

/** Which processor serves which queue, and how many jobs at once. */
export function registryOf(
  context: WorkerContext,
  { COLLECTION_CONCURRENCY }: z.output<typeof sections.workers>,
): Registry {
  const concurrency = COLLECTION_CONCURRENCY;
  const collection = { concurrency, processor: collectionProcessor(context) };
  const request = { concurrency, processor: requestProcessor(context) };
  return new Registry()
    .add({ queue: 'collection-pages', processor: pageProcessor(context), concurrency: PAGES_AT_ONCE })
    .add({ queue: 'collections-scheduled', ...collection })
    .add({ queue: 'collections-retry', ...collection })
    .add({ queue: 'collections-pause', ...collection })
    .add({ queue: 'collections-webhook', ...request })
    .add({ queue: 'collections-webhook-balance', ...request })
    .add({ queue: 'collections-batch', ...request })
    .add({ queue: 'manual-repayments', ...request })
    .add({ queue: 'janitor', processor: janitorProcessor(context), concurrency: 1 });
}
