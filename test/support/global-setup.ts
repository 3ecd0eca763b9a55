import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { MissingProgramError } from '../../src/errors.ts';
import { ensurePrograms } from '../../src/embedded/programs.ts';
import { startStack } from '../../src/embedded/stack.ts';
import { temporaryFolder } from './stack.ts';

/** Once per run: compiles, because tests start processes from the compiled output, and starts the servers all tests share. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await requirePrograms();
  compile();
  const { path: dataDir } = await temporaryFolder();
  const stack = await startStack({ dataDir, inMemory: true, removeDataDir: true });
  const { redisUrl, dynamodbUrl, kinesisUrl } = stack;
  project.provide('stack', { redisUrl, dynamodbUrl, kinesisUrl });
  return stack.stop;
}

/** Before anything is made that would stay behind. What is missing is said in one line, without the stack of a failure. */
async function requirePrograms(): Promise<void> {
  try {
    await ensurePrograms();
  } catch (error) {
    if (!(error instanceof MissingProgramError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

/** Type errors are the business of `npm run build`: the compiler writes its output in spite of them. */
function compile(): void {
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) process.stderr.write(`tsc reports errors, going on with what it wrote:\n${stdout}\n`);
}
