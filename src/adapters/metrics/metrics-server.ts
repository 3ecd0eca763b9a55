import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Health } from '../../ports/health.ts';
import { probeStatus } from '../../ports/health.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';

export interface MetricsServerOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** All interfaces when left out: the scraper is on another machine. */
  readonly host?: string;
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  readonly health: Health;
  readonly log: Pick<Log, 'warn'>;
}

export interface MetricsServer {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** Answers `/metrics`, `/health/live` and `/health/ready` for a role that has no other HTTP side. */
export async function openMetricsServer(options: MetricsServerOptions): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    const path = request.method === 'GET' ? (request.url ?? '').split('?')[0] : undefined;
    void answer(path, response, options);
  });
  server.listen(options.port, options.host ?? '0.0.0.0');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

async function answer(
  path: string | undefined,
  response: ServerResponse,
  { metrics, health, log }: MetricsServerOptions,
): Promise<void> {
  switch (path) {
    case '/metrics':
      try {
        return send(response, 200, await metrics.text(), metrics.contentType);
      } catch (error) {
        log.warn({ err: error }, 'the metrics cannot be read');
        return send(response, 500, 'the metrics cannot be read\n');
      }
    case '/health/live':
      return sendJson(response, 200, { status: 'live' });
    case '/health/ready': {
      const report = await health();
      return sendJson(response, probeStatus(report), report);
    }
    default:
      return send(response, 404, 'not found\n');
  }
}

const sendJson = (response: ServerResponse, status: number, body: object): void =>
  send(response, status, JSON.stringify(body), 'application/json; charset=utf-8');

function send(
  response: ServerResponse,
  status: number,
  body: string,
  type = 'text/plain; charset=utf-8',
): void {
  response.writeHead(status, { 'content-type': type }).end(body);
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  // A question that hangs, as Redis may, must not keep the process from ending.
  server.closeAllConnections();
  await closed;
}
