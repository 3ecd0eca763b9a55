import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { SandboxClient } from '../src/adapters/sandbox-client.ts';
import type { Instant } from '../src/domain/instant.ts';
import { parseInstant } from '../src/domain/instant.ts';
import type { Stack } from '../src/embedded/stack.ts';
import { startStack } from '../src/embedded/stack.ts';
import type { ChildOptions } from './child.ts';
import { Child } from './child.ts';
import type { Part } from './figures.ts';

/** A Monday, so that nothing of the bank calendar stands in the way. The bank's clock runs on from here. */
export const NOW = instant('2026-11-16T08:00:00Z');

/**
 * Collections in flight, of the pipeline and of the floor. DynamoDB Local does one thing after the other: more would not
 * make it faster, but each collection would last seconds and renew its lock in every one of them, which in life hardly
 * happens: almost as many requests again.
 */
export const AT_ONCE = 8;

/** Where processes leave what they spent their time on, and for which part of the bench. */
export interface Profile {
  readonly dir: string;
  readonly part: Part;
}

let profiled = 0;

/** Servers of the bench's own in a temporary folder, the bank as its own process, and every process that it starts. */
export class Ground {
  readonly stack: Stack;
  readonly bankUrl: string;
  readonly bank: SandboxClient;
  private readonly profile: Profile | null;
  private readonly children: Child[];

  private constructor(stack: Stack, bank: Child, bankUrl: string, profile: Profile | null) {
    this.stack = stack;
    this.bankUrl = bankUrl;
    this.bank = new SandboxClient(bankUrl);
    this.children = [bank];
    this.profile = profile;
  }

  /** `onStack`: how to end it all when the caller asks before the rest is up. */
  static async prepare(
    onStack: (stop: () => Promise<void>) => void,
    profile: Profile | null,
  ): Promise<Ground> {
    const dataDir = await mkdtemp(join(tmpdir(), 'collections-bench-'));
    const stack = await startStack({ dataDir, inMemory: true, removeDataDir: true });
    onStack(() => stack.stop());
    const { child, said } = await Child.start('../src/sandbox/main.js', {
      env: { SANDBOX_PORT: '0', SANDBOX_DATA_DIR: join(dataDir, 'sandbox'), LOG_LEVEL: 'warn' },
      upWhen: 'message',
    });
    const { url } = said as { url: string };
    const ground = new Ground(stack, child, url, profile);
    onStack(() => ground.stop());
    await ground.bank.setTime(NOW);
    return ground;
  }

  /** Where everything is, in the words of the environment. */
  get environment(): Record<string, string> {
    return {
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
      AWS_ENDPOINT_URL_DYNAMODB: this.stack.dynamodbUrl,
      AWS_ENDPOINT_URL_KINESIS: this.stack.kinesisUrl,
      ...bankVariables(this.bankUrl),
      CLOCK_URL: `${this.bankUrl}/clock`,
      COLLECTION_CONCURRENCY: String(AT_ONCE),
    };
  }

  async start(entry: string, options: ChildOptions): Promise<Child> {
    const { child } = await Child.start(entry, { ...options, execArgv: this.profiling(entry) });
    this.children.push(child);
    return child;
  }

  private profiling(entry: string): string[] {
    if (this.profile === null) return [];
    profiled += 1;
    const { dir, part } = this.profile;
    const name = [part, kindOf(entry), profiled, 'cpuprofile'].join('.');
    return ['--cpu-prof', `--cpu-prof-dir=${dir}`, `--cpu-prof-name=${name}`];
  }

  /** The workers as they are in life. */
  worker(env: Readonly<Record<string, string>>): Promise<Child> {
    return this.start('../workers/main.js', { env, upWhen: { says: 'workers are up' } });
  }

  /** The bridges as they are in life. */
  bridge(env: Readonly<Record<string, string>>): Promise<Child> {
    return this.start('../workers/bridges/main.js', { env, upWhen: { says: 'bridges are up' } });
  }

  async stop(): Promise<void> {
    await Promise.all(this.children.map((child) => child.stop()));
    await this.stack.stop();
  }
}

/** `../workers/main.js` is of the workers, `./floor-main.js` is the floor. */
function kindOf(entry: string): string {
  const file = basename(entry, '.js');
  return file === 'main' ? basename(dirname(entry)) : file.replace(/-main$/, '');
}

/** The pretend bank plays all services. */
export const bankVariables = (url: string): Record<string, string> => ({
  USER_SERVICE_URL: url,
  TXN_SERVICE_URL: url,
  PAYMENTS_SERVICE_URL: url,
  NOTIFICATIONS_URL: url,
});

function instant(text: string): Instant {
  const parsed = parseInstant(text);
  if (parsed === null) throw new Error(`${text} is no instant`);
  return parsed;
}
