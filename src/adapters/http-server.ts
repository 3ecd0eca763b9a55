import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HttpServerOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** All interfaces when left out. */
  readonly host?: string;
  /** How long an idle connection stays open; Node's five seconds when left out. */
  readonly keepAliveMs?: number;
  /** When closing, what is being asked is answered, for so long. */
  readonly lastAnswersMs: number;
}

export interface HttpServer {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** Listens, and ends in time: idle connections, or a question that hangs, would keep it open for ever. */
export async function listenHttp(
  answer: RequestListener,
  { port, host, keepAliveMs, lastAnswersMs }: HttpServerOptions,
): Promise<HttpServer> {
  const server = createServer(answer);
  if (keepAliveMs !== undefined) server.keepAliveTimeout = keepAliveMs;
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      const tooLong = setTimeout(() => server.closeAllConnections(), lastAnswersMs);
      await closed;
      clearTimeout(tooLong);
    },
  };
}
