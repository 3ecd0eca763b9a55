/**
 * Scripts what goes wrong between an AWS SDK client and its service. Works on any SDK v3 client, without mocks: the
 * requests that are let through are real.
 *
 *   const faults = injectFaults(client);                       // above the SDK's retries: the caller sees each fault
 *   const faults = injectFaults(client, { at: 'attempt' });    // below them: the SDK retries, the caller sees the rest
 *
 *   faults.script('UpdateItemCommand', fail(throttled()));                     // once, before it is sent
 *   faults.script('PutItemCommand', loseAnswer(timedOut()), { times: 2 });     // applied, then the answer is lost
 *   faults.script('TransactWriteItemsCommand', fail(cancelled('TransactionConflict')), { when: (input) => … });
 *   const gate = faults.hold('PutItemCommand');    // stops before it is sent …
 *   await gate.reached;                            // … the test arranges the race …
 *   gate.open();                                   // … and lets it go
 *
 *   faults.calls('UpdateItemCommand')   // how many, with and without faults
 *   faults.clear()                      // forget what is scripted; faults.remove() takes the injector out
 *
 * The oldest script that fits a request and is not used up decides on it.
 */
import {
  InternalServerError,
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
  TransactionConflictException,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb';

/** What happens to one request. `send` passes it on to the service. */
export type Fault = (send: () => Promise<unknown>) => Promise<unknown>;

export interface Script {
  /** How often it was played. */
  readonly hits: number;
}

export interface Gate {
  /** Resolves when a request stands at the gate. */
  readonly reached: Promise<void>;
  open(): void;
}

export interface Faults {
  script(command: string, fault: Fault, options?: ScriptOptions): Script;
  /** Stops the next fitting request before it is sent, or after it was answered, until the gate is opened. */
  hold(command: string, options?: HoldOptions): Gate;
  calls(command: string): number;
  clear(): void;
  remove(): void;
}

export interface ScriptOptions {
  /** How many requests it plays for. Default 1; `Infinity` until cleared. */
  readonly times?: number;
  readonly when?: (input: Record<string, unknown>) => boolean;
}

export interface HoldOptions extends Omit<ScriptOptions, 'times'> {
  readonly at?: 'before-send' | 'after-answer';
}

interface Entry {
  readonly command: string;
  readonly fault: Fault;
  readonly times: number;
  readonly when: (input: Record<string, unknown>) => boolean;
  hits: number;
}

/** Every SDK client has one; its type differs by service, what is used of it here does not. */
interface ClientWithStack {
  readonly middlewareStack: unknown;
}

let injectors = 0;

export function injectFaults(client: ClientWithStack, options: { at?: 'request' | 'attempt' } = {}): Faults {
  const stack = client.middlewareStack as DynamoDBClient['middlewareStack'];
  const name = `injectedFaults${(injectors += 1)}`;
  const counts = new Map<string, number>();
  let entries: Entry[] = [];

  const play = (command: string, input: object, send: () => Promise<unknown>): Promise<unknown> => {
    counts.set(command, (counts.get(command) ?? 0) + 1);
    const entry = entries.find(
      (each) =>
        each.command === command && each.hits < each.times && each.when(input as Record<string, unknown>),
    );
    if (entry === undefined) return send();
    entry.hits += 1;
    return entry.fault(send);
  };

  const atAttempt = options.at === 'attempt';
  stack.add(
    (next: (args: { input: object }) => Promise<unknown>, context: { commandName?: string }) =>
      (args: { input: object }) =>
        play(context.commandName ?? '', args.input, () => next(args)) as never,
    // The SDK's retry stands first in 'finalizeRequest': last in it is inside the retry, 'initialize' is outside.
    (atAttempt ? { step: 'finalizeRequest', priority: 'low', name } : { step: 'initialize', name }) as never,
  );

  const script = (
    command: string,
    fault: Fault,
    { times = 1, when = () => true }: ScriptOptions = {},
  ): Script => {
    const entry: Entry = { command, fault, times, when, hits: 0 };
    entries.push(entry);
    return entry;
  };

  return {
    script,
    hold(command, { at = 'before-send', ...which } = {}) {
      const reached = signpost();
      const opened = signpost();
      const pause = async (): Promise<void> => {
        reached.pass();
        await opened.passed;
      };
      const before: Fault = async (send) => {
        await pause();
        return send();
      };
      const after: Fault = async (send) => {
        const answer = await send();
        await pause();
        return answer;
      };
      script(command, at === 'before-send' ? before : after, which);
      return { reached: reached.passed, open: opened.pass };
    },
    calls: (command) => counts.get(command) ?? 0,
    clear: () => {
      entries = [];
    },
    remove: () => {
      stack.remove(name);
    },
  };
}

// ── what can happen ──────────────────────────────────────────────────────────────────────────────────────────────────

/** The service never sees the request. */
export const fail =
  (error: Error): Fault =>
  () =>
    Promise.reject(error);

/** The service has done what was asked, the caller does not hear of it. */
export const loseAnswer =
  (error: Error): Fault =>
  async (send) => {
    await send();
    throw error;
  };

/** One after the other for one request each, then as the last. */
export const inTurn = (...faults: [Fault, ...Fault[]]): Fault => {
  let next = 0;
  return (send) => faults[Math.min(next++, faults.length - 1)]!(send);
};

/** Let through. For `inTurn`. */
export const pass: Fault = (send) => send();

// ── what it looks like ───────────────────────────────────────────────────────────────────────────────────────────────

export const throttled = (): Error =>
  new ProvisionedThroughputExceededException({
    message: 'injected: rate exceeded',
    $metadata: { httpStatusCode: 400 },
  });

export const serverFailed = (): Error =>
  new InternalServerError({ message: 'injected: internal server error', $metadata: { httpStatusCode: 500 } });

export const timedOut = (): Error =>
  Object.assign(new Error('injected: request timed out'), { name: 'TimeoutError' });

export const connectionReset = (): Error =>
  Object.assign(new Error('injected: socket hang up'), { code: 'ECONNRESET' });

/** A single write to an item that a transaction is changing. */
export const transactionConflict = (): Error =>
  new TransactionConflictException({
    message: 'injected: transaction is ongoing for the item',
    $metadata: { httpStatusCode: 400 },
  });

/** One code per item of the transaction: `cancelled('None', 'ConditionalCheckFailed', 'TransactionConflict')`. */
export const cancelled = (...codes: string[]): Error =>
  new TransactionCanceledException({
    message: `injected: transaction cancelled, please refer to cancellation reasons [${codes.join(', ')}]`,
    CancellationReasons: codes.map((code) => ({ Code: code })),
    $metadata: { httpStatusCode: 400 },
  });

function signpost(): { readonly passed: Promise<void>; readonly pass: () => void } {
  let pass = (): void => undefined;
  const passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  return { passed, pass: () => pass() };
}
