import type { ServerResponse } from 'node:http';
import type { Health } from '../../ports/health.ts';
import { probeStatus } from '../../ports/health.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { HttpServer } from '../http-server.ts';
import { listenHttp } from '../http-server.ts';

/** A question that hangs, as Redis may, must not keep the process from ending. */
const LAST_ANSWERS_MS = 0;

export interface MetricsServerOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** All interfaces when left out: the scraper is on another machine. */
  readonly host?: string;
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  readonly health: Health;
  readonly log: Pick<Log, 'warn'>;
}

/** Answers `/metrics`, `/health/live` and `/health/ready` for a role that has no other HTTP side. */
export const openMetricsServer = ({
  port,
  host = '0.0.0.0',
  ...tools
}: MetricsServerOptions): Promise<HttpServer> =>
  listenHttp(
    (request, response) => {
      const path = request.method === 'GET' ? (request.url ?? '').split('?')[0] : undefined;
      void answer(path, response, tools);
    },
    { port, host, lastAnswersMs: LAST_ANSWERS_MS },
  );

async function answer(
  path: string | undefined,
  response: ServerResponse,
  { metrics, health, log }: Omit<MetricsServerOptions, 'port' | 'host'>,
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
