import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withBlocks } from '../../../docs/generate/blocks.ts';
import { BILLING, GATEWAYS } from '../../../docs/generate/machines.ts';
import { PAGES, pageOf } from '../../../docs/generate/pages.ts';
import { processorsIn } from '../../../docs/generate/processors.ts';
import { stateDiagram, transitionTable } from '../../../docs/generate/state-machine.ts';
import { QUEUE_NAMES } from '../../../queues/queue-names.ts';

const root = new URL('../../..', import.meta.url).pathname;
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

describe('what is drawn from the code', () => {
  it.each(PAGES)('%s is as `npm run docs` writes it', async (page) => {
    expect(read(page)).toBe(await pageOf(root, page));
  });

  it('is put between its marks, and nothing else changes', () => {
    const page = 'before\n\n<!-- generated: a -->\n\nold\n\n<!-- end of a -->\n\nafter\n';
    expect(withBlocks(page, { a: 'new' })).toBe(page.replace('old', 'new'));
  });

  it.each([
    ['before', { a: 'new' }, 'no place for a'],
    ['<!-- generated: a -->\n', {}, 'nobody makes the block a'],
    ['<!-- generated: a -->\n', { a: 'new' }, 'the block a has no end'],
  ])('is not written into %j with %j', (page, blocks, problem) => {
    expect(() => withBlocks(page, blocks)).toThrow(problem);
  });
});

describe('a state machine', () => {
  const machine = {
    statuses: ['OPEN', 'PAID'],
    births: ['OPEN'],
    edges: [
      { from: 'OPEN', to: 'OPEN', causes: ['reminded'] },
      { from: 'OPEN', to: 'PAID', causes: ['told-so', 'paid'] },
      { from: 'PAID', to: 'PAID', causes: ['paid'] },
    ],
  };

  it('draws what may happen from everywhere once, and leaves out what changes no status', () => {
    expect(stateDiagram(machine).split('\n').slice(2, -1)).toEqual([
      '  state "any status" as any',
      '  [*] --> OPEN',
      '  any --> PAID: paid',
      '  OPEN --> PAID: told-so',
    ]);
  });

  it('lists every arrow', () => {
    expect(transitionTable(machine).split('\n').slice(2)).toEqual([
      '| `OPEN` | stays | `reminded` |',
      '| `OPEN` | `PAID` | `told-so` `paid` |',
      '| `PAID` | stays | `paid` |',
    ]);
  });

  it('of billing records leaves out the sentinel, and of gateways has every word', () => {
    expect(BILLING.statuses).toHaveLength(10);
    expect(BILLING.statuses).not.toContain('INACTIVE');
    expect(new Set(GATEWAYS.edges.flatMap(({ causes }) => causes)).size).toBe(8);
  });
});

it('every queue has a processor that can be told from the registry', () => {
  const processors = processorsIn(read('workers/processors.ts'));
  expect([...processors.keys()].sort()).toEqual([...QUEUE_NAMES].sort());
});
