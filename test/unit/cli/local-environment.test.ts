import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeLocalEnvironment } from '../../../src/cli/local-environment.ts';
import { temporaryFolder } from '../../support/stack.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

const written = () => join(folder.path, 'environment.json');

it('what holds tokens is for its owner only, whatever a crash has left', () => {
  for (const left of [written(), `${written()}.draft`]) {
    writeFileSync(left, 'left');
    chmodSync(left, 0o644);
  }
  writeLocalEnvironment(folder.path, { API_TOKENS: 'a:operator:secret' });
  expect(statSync(written()).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(written(), 'utf8'))).toEqual({ API_TOKENS: 'a:operator:secret' });
});
