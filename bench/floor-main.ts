import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import {
  BatchGetItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import type { Request, Steps } from './template.ts';

/*
 * The floor: a bare loop that sends the requests of collections and does nothing else. No queue, no rules, no checks;
 * the SDK and fetch as they come. Everything that can be made ready before is made ready before.
 */

export interface FloorWork {
  readonly collections: readonly Steps[];
  readonly atOnce: number;
}

export interface FloorDone {
  readonly elapsedMs: number;
  readonly cpuMs: number;
}

type Send = () => Promise<unknown>;

const bankUrl = process.env['PAYMENTS_SERVICE_URL'] ?? '';
const client = new DynamoDBClient({
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  endpoint: process.env['AWS_ENDPOINT_URL_DYNAMODB'],
} as DynamoDBClientConfig);

const COMMANDS = {
  BatchGetItem: BatchGetItemCommand,
  GetItem: GetItemCommand,
  PutItem: PutItemCommand,
  Query: QueryCommand,
  TransactWriteItems: TransactWriteItemsCommand,
  UpdateItem: UpdateItemCommand,
} as const;

function ready(request: Request): Send {
  if (request.to === 'bank') {
    const { method, path, headers, body } = request;
    const url = bankUrl + path;
    return async () => {
      const response = await fetch(url, { method, headers, ...(body === null ? {} : { body }) });
      if (!response.ok) throw new Error(`the bank answers ${response.status} to ${method} ${path}`);
      return response.json();
    };
  }
  const Command = COMMANDS[request.operation as keyof typeof COMMANDS] as
    (new (input: never) => unknown) | undefined;
  if (Command === undefined) throw new Error(`the floor does not know ${request.operation}`);
  const input = withBytes(request.input) as never;
  return () => client.send(new Command(input) as never);
}

/** Bytes go over the wire as text; the SDK wants them as they are. */
function withBytes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withBytes);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) =>
      name === 'B' && typeof one === 'string' ? [name, Buffer.from(one, 'base64')] : [name, withBytes(one)],
    ),
  );
}

async function collect(steps: readonly (readonly Send[])[]): Promise<void> {
  for (const step of steps) {
    const [only, ...others] = step;
    if (only !== undefined && others.length === 0) await only();
    else await Promise.all(step.map((send) => send()));
  }
}

async function work({ collections, atOnce }: FloorWork): Promise<FloorDone> {
  const left = collections.map((steps) => steps.map((step) => step.map(ready))).values();
  const cpu = process.cpuUsage();
  const beganMs = performance.now();
  const loop = async (): Promise<void> => {
    for (const steps of left) await collect(steps);
  };
  await Promise.all(Array.from({ length: atOnce }, loop));
  const elapsedMs = performance.now() - beganMs;
  const { user, system } = process.cpuUsage(cpu);
  return { elapsedMs, cpuMs: (user + system) / 1_000 };
}

process.on('message', (message: FloorWork | { readonly attend: string }) => {
  if ('attend' in message) return;
  work(message).then(
    (done) => process.send?.(done),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
      process.exit(1);
    },
  );
});
process.once('SIGTERM', () => process.exit(0));
process.send?.('up');
