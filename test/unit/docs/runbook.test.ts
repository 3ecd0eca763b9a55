import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../../src/adapters/metrics/prometheus.ts';
import { blocksIn, headingsIn } from '../../support/markdown.ts';

const root = new URL('../../..', import.meta.url).pathname;
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const sources = execFileSync(
  'git',
  ['ls-files', '-co', '--exclude-standard', 'src', 'queues', 'workers', 'dashboard'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((file) => file.endsWith('.ts'));
const runbook = read('docs/runbook.md');
/** A table, and a list of steps. */
const NOT_PAGED = ['Metrics without an alert', 'A member says that they were charged twice'];
const sorted = (words: Iterable<string>): string[] => [...new Set(words)].sort();
const headed = (prefix: RegExp): string[] =>
  headingsIn(runbook).flatMap((heading) =>
    prefix.test(heading) ? heading.replace(prefix, '').split(', ') : [],
  );

describe('the runbook has a section for', () => {
  it('every alarm that is raised, and for no other', () => {
    const raised = sources.flatMap((file) =>
      [...read(file).matchAll(/\balarm: '([a-z-]+)'/g)].map(([, name = '']) => name),
    );
    expect(headed(/^alarm: /).sort()).toEqual(sorted(raised));
    expect(raised.length).toBeGreaterThan(0);
  });

  it('every rule of the audit by its number and name, and for no other', () => {
    const rules = sources
      .filter((file) => /^src\/audit\/.*\brules\/\d+-/.test(file))
      .map((file) => basename(file, '.ts').replace(/^(\d+)-/, '$1: '));
    const numbered = headingsIn(runbook).flatMap((heading) => {
      const [, number, names = ''] = /^rule (\d+): (.+)$/.exec(heading) ?? [];
      return number === undefined ? [] : names.split(', ').map((name) => `${number}: ${name}`);
    });
    expect(numbered.sort()).toEqual(sorted(rules));
  });

  it('every metric, or says why it has none', async () => {
    const registered = [...(await createMetrics().text()).matchAll(/^# TYPE (collections_\w+) /gm)];
    const without = [...runbook.matchAll(/^\| `(collections_\w+)` +\|/gm)].map(([, name = '']) => name);
    expect(sorted([...selectors().map(({ metric }) => metric), ...without])).toEqual(
      sorted(registered.map(([, name = '']) => name)),
    );
  });
});

const PARTS = ['**Means**', '**Look**', '**Do**', '**Over when**'];

it.each([
  ...sectionsOf('Alarms in the log', [...PARTS, '```promql']),
  ...sectionsOf('What metrics tell', [...PARTS, '```promql']),
  ...sectionsOf('Situations', PARTS),
])('“$heading” says what it means, what to look at, what to do and when it is over', ({ text, parts }) => {
  expect(parts.filter((part) => !text.includes(part))).toEqual([]);
});

function sectionsOf(chapter: string, parts: readonly string[]) {
  const text = runbook.split(/^## /m).find((one) => one.startsWith(`${chapter}\n`)) ?? '';
  const sections = text
    .split(/^### /m)
    .slice(1)
    .map((section) => ({ heading: section.slice(0, section.indexOf('\n')), text: section, parts }));
  if (sections.length === 0) throw new Error(`the runbook has no sections under ${chapter}`);
  return sections.filter(({ heading }) => !NOT_PAGED.includes(heading));
}

describe('alert expressions', () => {
  it('go by labels that the metrics have', () => {
    const labels = new Map(
      [...read('docs/metrics.md').matchAll(/^\| `(collections_\w+)` +\| ([a-z, ]*?) +\|/gm)].map(
        ([, metric = '', names = '']) => [metric, names.split(', ')],
      ),
    );
    const wrong = selectors().flatMap(({ metric, named }) =>
      named.filter((label) => !labels.get(metric)?.includes(label)).map((label) => `${metric}: ${label}`),
    );
    expect(wrong).toEqual([]);
  });

  it('have brackets that close', () => {
    for (const { text } of expressions())
      for (const [open, close] of ['()', '{}', '[]'])
        expect([text, text.split(open!).length]).toEqual([text, text.split(close!).length]);
  });
});

const expressions = () => blocksIn(runbook).filter(({ info }) => info === 'promql');

/** Each metric that an expression names, with the labels by which it chooses. Histograms have three series. */
function selectors(): { metric: string; named: string[] }[] {
  return expressions().flatMap(({ text }) =>
    [...text.matchAll(/(collections_\w+?)(?:_bucket|_count|_sum)?\b(?:\{([^}]*)\})?/g)].map(
      ([, metric = '', chosen = '']) => ({
        metric,
        named: [...chosen.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label),
      }),
    ),
  );
}
