import { startApi } from '../../src/api/start-api.ts';
import { NO_LOG } from '../../src/adapters/logging/logger.ts';
import { createMetrics } from '../../src/adapters/metrics/prometheus.ts';
import type { Role } from '../../src/ports/caller.ts';
import type { Log } from '../../src/ports/log.ts';
import { eventually } from './processes.ts';

export const TOKENS: Record<Role, string> = {
  viewer: 'viewer-token-of-tests',
  service: 'service-token-of-tests',
  operator: 'operator-token-of-tests',
};

export const API_TOKENS = Object.entries(TOKENS)
  .map(([role, token]) => `${role}-name:${role}:${token}`)
  .join(',');

/** For a server that is asked nothing which needs them: nobody listens there. */
export const NO_SERVICES = {
  USER_SERVICE_URL: 'http://127.0.0.1:9',
  TXN_SERVICE_URL: 'http://127.0.0.1:9',
  PAYMENTS_SERVICE_URL: 'http://127.0.0.1:9',
  NOTIFICATIONS_URL: 'http://127.0.0.1:9',
};

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** As JSON where it is some, else as text. */
  readonly body: unknown;
}

export interface CallOptions {
  readonly as?: Role | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The real API over real HTTP. */
export interface ApiClient {
  readonly url: string;
  /** An operator unless said otherwise; `null` sends no token. */
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
  close(): Promise<void>;
}

export async function api(
  environment: Readonly<Record<string, string>>,
  log: Log = NO_LOG,
): Promise<ApiClient> {
  const running = await startApi(
    { API_TOKENS, PORT: '0', ...environment },
    { log, metrics: createMetrics() },
  );
  const url = `http://127.0.0.1:${running.port}`;
  return { url, call: caller(url), close: () => running.stop() };
}

/** Redis is reached in the background: until then it hands nothing over. */
export const isReady = ({ call }: Pick<ApiClient, 'call'>): Promise<true> =>
  eventually('the API has reached everything', async () => {
    const { body } = await call('GET', '/health/ready', { as: null });
    return (body as { status: string }).status === 'ready';
  });

export const caller =
  (url: string): ApiClient['call'] =>
  async (method, path, { as = 'operator', body, headers = {} } = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(as === null ? {} : { authorization: `Bearer ${TOKENS[as]}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };
