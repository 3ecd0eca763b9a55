import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import type { MemoryDynamo } from './memory-dynamo.ts';

export interface HttpFront {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Serves the store to SDK clients of other processes, in DynamoDB's JSON 1.0 protocol on a loopback port. */
export async function startHttpFront(store: MemoryDynamo): Promise<HttpFront> {
  const server = createServer((request, response) => {
    answer(store, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => closed(server) };
}

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

async function answer(
  store: MemoryDynamo,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const { status, body } = executed(store, request, Buffer.concat(parts).toString('utf8'));
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
  response.end(body);
}

function executed(
  store: MemoryDynamo,
  { headers }: IncomingMessage,
  body: string,
): { status: number; body: string } {
  const operation = String(headers['x-amz-target']).replace(/^DynamoDB_20120810\./, '');
  try {
    return { status: 200, body: written({ ...store.execute(operation, read(body)), $metadata: undefined }) };
  } catch (error) {
    return failure(error as Error);
  }
}

function failure(error: Error): { status: number; body: string } {
  const isTheirs = error instanceof DynamoDBServiceException;
  const { name, message, Item, CancellationReasons } = error as Error & Record<string, unknown>;
  const __type = `com.amazonaws.dynamodb.v20120810#${isTheirs ? name : 'InternalServerError'}`;
  return { status: isTheirs ? 400 : 500, body: written({ __type, message, Item, CancellationReasons }) };
}

/** Bytes travel as base64. Where a text or texts stand under `B` or `BS`, they are an attribute's value. */
function read(body: string): object {
  return JSON.parse(body, (key, value: unknown) => {
    if (key === 'B' && typeof value === 'string') return Buffer.from(value, 'base64');
    if (key === 'BS' && Array.isArray(value) && value.every((element) => typeof element === 'string'))
      return value.map((element) => Buffer.from(element, 'base64'));
    return value;
  }) as object;
}

const written = (output: object): string =>
  JSON.stringify(output, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
  );
