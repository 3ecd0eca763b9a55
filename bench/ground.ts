import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SandboxClient } from '../src/adapters/sandbox-client.ts';
import type { Instant } from '../src/domain/instant.ts';
import { parseInstant } from '../src/domain/instant.ts';
import type { Stack } from '../src/embedded/stack.ts';
import { startStack } from '../src/embedded/stack.ts';
import type { ChildOptions } from './child.ts';
import { Child } from './child.ts';

/** A Monday, so that nothing of the bank calendar stands in the way. The bank's clock runs on from here. */
export const NOW = instant('2026-11-16T08:00:00Z');

/**
 * Collections in flight, of the pipeline and of the floor. DynamoDB Local does one thing after the other: more would not
 * make it faster, but each collection would last seconds and renew its lock in every one of them, which in life hardly
 * happens: almost as many requests again.
 */
export const AT_ONCE = 8;

/** Servers of the bench's own in a temporary folder, the bank as its own process, and every process that it starts. */
export class Ground {
  readonly stack: Stack;
  readonly bankUrl: string;
  readonly bank: SandboxClient;
  private readonly execArgv: readonly string[];
  private readonly children: Child[];

  private constructor(stack: Stack, bank: Child, bankUrl: string, execArgv: readonly string[]) {
    this.stack = stack;
    this.bankUrl = bankUrl;
    this.bank = new SandboxClient(bankUrl);
    this.children = [bank];
    this.execArgv = execArgv;
  }

  /** `onStack`: how to end it all when somebody asks before the rest is up. */
  static async prepare(
    onStack: (stop: () => Promise<void>) => void,
    { profileDir }: { readonly profileDir?: string | undefined },
  ): Promise<Ground> {
    const dataDir = await mkdtemp(join(tmpdir(), 'collections-bench-'));
    const stack = await startStack({ dataDir, inMemory: true, removeDataDir: true });
    onStack(() => stack.stop());
    const { child, said } = await Child.start('../src/sandbox/main.js', {
      env: { SANDBOX_PORT: '0', SANDBOX_DATA_DIR: join(dataDir, 'sandbox'), LOG_LEVEL: 'warn' },
      upWhen: 'message',
    });
    const { url } = said as { url: string };
    const execArgv = profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileDir}`];
    const ground = new Ground(stack, child, url, execArgv);
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
    const { child } = await Child.start(entry, { ...options, execArgv: this.execArgv });
    this.children.push(child);
    return child;
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
