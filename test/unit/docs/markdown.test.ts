import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';
import { anchorsIn, blocksIn, linksIn } from '../../support/markdown.ts';

const root = new URL('../../..', import.meta.url).pathname;
const pages = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((page) => page !== '' && existsSync(join(root, page)));
const read = (page: string): string => readFileSync(join(root, page), 'utf8');

/** Null: it leads somewhere. */
function problemOf(page: string, target: string): string | null {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : normalize(join(dirname(page), path));
  if (!existsSync(join(root, file))) return `${file} is not there`;
  if (anchor === undefined || anchorsIn(read(file)).has(anchor)) return null;
  return `${file} has no heading #${anchor}`;
}

it.each(pages)('%s links to what is there', (page) => {
  const dead = linksIn(read(page)).flatMap(({ line, target }) => {
    const problem = problemOf(page, target);
    return problem === null ? [] : [`${page}:${line}: ${problem}`];
  });
  expect(dead).toEqual([]);
});

it('a dead link and a dead anchor are seen, outside of code', () => {
  const text = '[a](gone.md)\n```md\n[b](gone-too.md)\n```\n![c](README.md#no)\n[d](https://example.com)\n';
  expect(linksIn(text)).toEqual([
    { line: 1, target: 'gone.md' },
    { line: 5, target: 'README.md#no' },
  ]);
  expect(problemOf('README.md', 'gone.md')).toBe('gone.md is not there');
  expect(problemOf('README.md', 'README.md#no')).toBe('README.md has no heading #no');
});

it('anchors are made as GitHub makes them', () => {
  const text =
    '# `cli` & co.\n## Two commands\n## Two commands\n### alarm: run-stopped\n```sh\n# no heading\n```\n';
  expect([...anchorsIn(text)]).toEqual(['cli--co', 'two-commands', 'two-commands-1', 'alarm-run-stopped']);
});

it('a block in a block is part of its text, and one in a list is a block', () => {
  const text = 'a\n````md\n```sh\nb\n```\n````\n- c\n\n  ```sh runnable\n  d\n  ```\n';
  expect(blocksIn(text)).toEqual([
    { info: 'md', firstLine: 3, text: '```sh\nb\n```' },
    { info: 'sh runnable', firstLine: 10, text: '  d' },
  ]);
});
