import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { Blocks } from './blocks.ts';
import { withBlocks } from './blocks.ts';
import { decisionList } from './decisions.ts';
import { BILLING, FLOATS, GATEWAYS, RECURRING } from './machines.ts';
import { performanceBlocks } from './performance.ts';
import { pipelineDiagram, queueTable, runTable } from './pipeline.ts';
import { processorsIn } from './processors.ts';
import { stateDiagram, transitionTable } from './state-machine.ts';
import { storeTable } from './store-tables.ts';

/** The pages that have generated blocks, from the root of the repository. */
export const PAGES = ['docs/architecture.md', 'docs/decisions/README.md', 'docs/performance.md'] as const;
export type Page = (typeof PAGES)[number];

/** The page as it ought to be: its own text, with every block drawn anew from the code. */
export async function pageOf(root: string, page: Page): Promise<string> {
  const path = join(root, page);
  const text = withBlocks(readFileSync(path, 'utf8'), await blocksOf(root, page));
  return format(text, { ...(await resolveConfig(path)), parser: 'markdown' });
}

async function blocksOf(root: string, page: Page): Promise<Blocks> {
  switch (page) {
    case 'docs/architecture.md':
      return architecture(root);
    case 'docs/decisions/README.md':
      return { decisions: decisionList(join(root, 'docs/decisions')) };
    case 'docs/performance.md':
      return performanceBlocks(root);
  }
}

async function architecture(root: string): Promise<Blocks> {
  const processors = processorsIn(readFileSync(join(root, 'workers/processors.ts'), 'utf8'));
  return {
    pipeline: await pipelineDiagram(processors),
    queues: await queueTable(processors),
    runs: runTable(),
    'billing records': stateDiagram(BILLING),
    'transitions of billing records': transitionTable(BILLING),
    floats: stateDiagram(FLOATS),
    'transitions of floats': transitionTable(FLOATS),
    'recurring payments': stateDiagram(RECURRING),
    'transitions of recurring payments': transitionTable(RECURRING),
    'gateway subscriptions': stateDiagram(GATEWAYS),
    tables: storeTable(),
  };
}
