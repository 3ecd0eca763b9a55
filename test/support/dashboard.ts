import { startDashboard } from '../../dashboard/start-dashboard.ts';
import { NO_LOG } from '../../src/adapters/logging/logger.ts';
import { createMetrics } from '../../src/adapters/metrics/prometheus.ts';
import type { Role } from '../../src/ports/caller.ts';
import type { Log } from '../../src/ports/log.ts';
import { API_TOKENS, TOKENS } from './api.ts';
import { eventually } from './processes.ts';

export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface Ask {
  readonly cookie?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The real dashboard over real HTTP, asked as a browser would. */
export interface Dashboard {
  readonly url: string;
  get(path: string, ask?: Ask): Promise<Page>;
  /** From a page of its own unless the headers say otherwise. */
  post(path: string, form: Readonly<Record<string, string>>, ask?: Ask): Promise<Page>;
  signIn(form: { readonly name: string; readonly token: string }, ask?: Ask): Promise<Page>;
  /** The cookie of somebody who has signed in. */
  signedIn(role: Role): Promise<string>;
  close(): Promise<void>;
}

export const cookieOf = ({ headers }: Page): string => (headers.get('set-cookie') ?? '').split(';')[0] ?? '';

export async function dashboard(
  environment: Readonly<Record<string, string>>,
  { log = NO_LOG, nowMs = Date.now }: { readonly log?: Log; readonly nowMs?: () => number } = {},
): Promise<Dashboard> {
  const running = await startDashboard(
    { API_TOKENS, DASHBOARD_PORT: '0', ...environment },
    { log, metrics: createMetrics(), nowMs },
  );
  const url = `http://127.0.0.1:${running.port}`;
  const send = async (
    method: string,
    path: string,
    { cookie, headers }: Ask,
    body?: string,
  ): Promise<Page> => {
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: { accept: 'text/html', ...(cookie === undefined ? {} : { cookie }), ...headers },
      ...(body === undefined ? {} : { body }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const here: Dashboard = {
    url,
    get: (path, ask = {}) => send('GET', path, ask),
    post: (path, form, { cookie, headers = { origin: url } } = {}) =>
      send(
        'POST',
        path,
        {
          ...(cookie === undefined ? {} : { cookie }),
          headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        },
        new URLSearchParams(form).toString(),
      ),
    signIn: (form, ask) => here.post('/sign-in', form, ask),
    async signedIn(role) {
      const page = await here.signIn({ name: `${role}-name`, token: TOKENS[role] });
      if (page.status !== 303) throw new Error(`${role} could not sign in: ${page.status}`);
      return cookieOf(page);
    },
    close: () => running.stop(),
  };
  return here;
}

/** Redis is reached a moment after the start. */
export const isReady = (here: Dashboard): Promise<true> =>
  eventually('the dashboard has reached everything', async () => {
    const { text } = await here.get('/health/ready');
    return (JSON.parse(text) as { status: string }).status === 'ready';
  });
