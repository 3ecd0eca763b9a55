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

/** Stands in front of a server and writes down what it is asked: the client need not know that it is watched. */
export async function startProxy(target: string): Promise<Proxy> {
  const agent = new Agent({ keepAlive: true });
  let exchanges: Exchange[] = [];
  const server = createServer((incoming, outgoing) => {
    pass(target, agent, incoming, outgoing).then(
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
  target: string,
  agent: Agent,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<Exchange> {
  const sentMs = performance.now();
  const { method = '', url: path = '', headers } = incoming;
  const body = await whole(incoming);
  const answered = await new Promise<IncomingMessage>((resolve, reject) => {
    const onwards = request(
      new URL(path, target),
      { agent, method, headers: { ...headers, host: new URL(target).host } },
      resolve,
    );
    onwards.on('error', reject);
    onwards.end(body);
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

async function whole(message: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
