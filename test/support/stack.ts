import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { Endpoints } from '../../src/embedded/stack-file.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    stack: Endpoints;
  }
}

/** The servers that all tests of one run share. Each test brings table, stream and queue names of its own. */
export function sharedStack(): Endpoints {
  return inject('stack');
}

/** A folder of a test's own, and how to be rid of it. */
export async function temporaryFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'collections-test-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
