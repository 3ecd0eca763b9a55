import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from './stack.ts';

const ENTRY = fileURLToPath(new URL('../../dist/src/sandbox/main.js', import.meta.url));

export interface SandboxOptions {
  /** A folder of the sandbox's own, removed by `stop` and `kill`, when left out. */
  readonly dataDir?: string;
  /** Callbacks stay pending when left out. */
  readonly kinesisEndpoint?: string;
  readonly paymentsStream?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export interface RunningSandbox {
  readonly url: string;
  readonly pid: number;
  /** Ends as an operator would (SIGTERM); resolves with the exit code. */
  stop(): Promise<number | null>;
  /** Ends it in the middle of whatever it does (SIGKILL). */
  kill(): Promise<void>;
  /** Ends the IPC channel, as the death of the parent does; resolves with the exit code. */
  abandon(): Promise<number | null>;
}

/** Thrown when the process ended before it listened; `output` is what it had to say. */
export class SandboxDidNotStart extends Error {
  readonly exitCode: number | null;
  readonly output: string;

  constructor(exitCode: number | null, output: string) {
    super(`the sandbox ended with code ${exitCode}: ${output}`);
    this.exitCode = exitCode;
    this.output = output;
  }
}

function environment(
  { kinesisEndpoint, paymentsStream, env }: SandboxOptions,
  dataDir: string,
): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(AWS_|SANDBOX_|PAYMENTS_|NODE_)/.test(name),
  );
  return {
    ...Object.fromEntries(inherited),
    SANDBOX_PORT: '0',
    SANDBOX_DATA_DIR: dataDir,
    LOG_LEVEL: 'warn',
    ...(kinesisEndpoint !== undefined && { AWS_ENDPOINT_URL_KINESIS: kinesisEndpoint }),
    ...(paymentsStream !== undefined && { PAYMENTS_STREAM: paymentsStream }),
    ...env,
  };
}

async function listening(child: ChildProcess, output: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('message', (message: { readonly url: string }) => resolve(message.url));
    child.once('error', reject);
    child.once('close', (code) => reject(new SandboxDidNotStart(code, output())));
  });
}

/** Starts the sandbox bank as the process it really is, from the compiled output. */
export async function startSandbox(options: SandboxOptions = {}): Promise<RunningSandbox> {
  const own = options.dataDir === undefined ? await temporaryFolder() : undefined;
  const dataDir = options.dataDir ?? own?.path ?? '';
  const child = fork(ENTRY, { env: environment(options, dataDir), execArgv: [], silent: true });
  // 'close' would also wait for the IPC channel, which does not report its end when it was cut from this side.
  const exited = once(child, 'exit') as Promise<[number | null]>;
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-20_000)));
  }
  const ended = async () => {
    const [code] = await exited;
    await own?.remove();
    return code;
  };
  const url = await listening(child, () => output).catch(async (error: unknown) => {
    await ended();
    throw error;
  });
  return {
    url,
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM');
      return ended();
    },
    async kill() {
      child.kill('SIGKILL');
      await ended();
    },
    async abandon() {
      child.disconnect();
      return ended();
    },
  };
}
