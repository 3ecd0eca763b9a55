import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that went through, and its answer. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly answer: string;
  readonly sentMs: number;
  readonly answeredMs: number;
}

export interface Proxy {
  readonly url: string;
  /** What went through since it was asked for last. */
  take(): Exchange[];
  close(): void;
}

/** Changes a request on its way; what is written down is what the client sent. */
export type Amend = (body: Buffer, headers: IncomingMessage['headers']) => Buffer;

const asItIs: Amend = (body) => body;

/** Stands in front of a server and writes down what it is asked: the client need not know that it is watched. */
export async function startProxy(target: string, amend: Amend = asItIs): Promise<Proxy> {
  const agent = new Agent({ keepAlive: true });
  let exchanges: Exchange[] = [];
  const server = createServer((incoming, outgoing) => {
    pass({ target, agent, amend }, incoming, outgoing).then(
      (exchange) => exchanges.push(exchange),
      () => outgoing.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    take() {
      const taken = exchanges;
      exchanges = [];
      return taken;
    },
    close() {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}

async function pass(
  { target, agent, amend }: { readonly target: string; readonly agent: Agent; readonly amend: Amend },
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<Exchange> {
  const sentMs = performance.now();
  const { method = '', url: path = '', headers } = incoming;
  const body = await whole(incoming);
  const sent = amend(body, headers);
  const answered = await new Promise<IncomingMessage>((resolve, reject) => {
    const onwards = request(
      new URL(path, target),
      { agent, method, headers: { ...headers, host: new URL(target).host, ...lengthOf(sent) } },
      resolve,
    );
    onwards.on('error', reject);
    onwards.end(sent);
  });
  const answer = await whole(answered);
  outgoing.writeHead(answered.statusCode ?? 502, answered.headers);
  outgoing.end(answer);
  return {
    method,
    path,
    headers,
    body: body.toString('utf8'),
    answer: answer.toString('utf8'),
    sentMs,
    answeredMs: performance.now(),
  };
}

const lengthOf = (body: Buffer): object => (body.length === 0 ? {} : { 'content-length': body.length });

async function whole(message: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
