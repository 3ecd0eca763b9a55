import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SESSION_MS } from '../../../dashboard/session.ts';
import { createLogger } from '../../../src/adapters/logging/logger.ts';
import { NO_SERVICES, TOKENS } from '../../support/api.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import type { Dashboard } from '../../support/dashboard.ts';
import { cookieOf, dashboard, isReady } from '../../support/dashboard.ts';
import type { PrivateRedis } from '../../support/redis-server.ts';
import { privateRedis } from '../../support/redis-server.ts';
import { sharedStack } from '../../support/stack.ts';

let store: BillingStore;
let redis: PrivateRedis;
let here: Dashboard;
let passedMs = 0;
let environment: Record<string, string>;
const lines: string[] = [];
const log = createLogger({
  role: 'dashboard',
  level: 'info',
  destination: { write: (line: string) => void lines.push(line) },
});

beforeAll(async () => {
  [store, redis] = await Promise.all([billingStore(), privateRedis()]);
  environment = {
    REDIS_URL: redis.url,
    AWS_ENDPOINT_URL_DYNAMODB: sharedStack().dynamodbUrl,
    BILLING_TABLE: store.tables.billing,
    HISTORY_TABLE: store.tables.history,
    LOCKS_TABLE: store.tables.locks,
    PIPELINE_TABLE: store.tables.pipeline,
    ...NO_SERVICES,
  };
  const startMs = Date.now();
  here = await dashboard(environment, { log, nowMs: () => startMs + passedMs });
  await isReady(here);
});
afterAll(async () => {
  await here.close();
  await redis.stop();
  await store.drop();
});

const OPERATOR = { name: 'operator-name', token: TOKENS.operator };

describe('the door', () => {
  it('sends whoever is not signed in to the sign-in page, and back afterwards', async () => {
    const page = await here.get('/freezes?x=1');
    expect([page.status, page.headers.get('location')]).toEqual([303, '/sign-in?next=%2Ffreezes%3Fx%3D1']);
    expect((await here.get('/sign-in?next=%2Ffreezes')).text).toContain('name="next" value="/freezes"');
    const signedIn = await here.post('/sign-in', { ...OPERATOR, next: '/freezes?x=1' });
    expect([signedIn.status, signedIn.headers.get('location')]).toEqual([303, '/freezes?x=1']);
  });

  it.each(['//elsewhere', '/\\elsewhere', 'https://elsewhere', 'javascript:alert(1)', '/a b'])(
    'never leads to %s',
    async (next) => {
      const page = await here.post('/sign-in', { ...OPERATOR, next });
      expect(page.headers.get('location')).toBe('/');
    },
  );

  it('gives a cookie that scripts cannot read and other sites cannot send', async () => {
    const page = await here.signIn(OPERATOR);
    const cookie = page.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/^console=/);
    for (const flag of ['HttpOnly', 'SameSite=Strict', 'Path=/', `Max-Age=${SESSION_MS / 1_000}`]) {
      expect(cookie).toContain(flag);
    }
    expect(cookie).not.toContain('Secure');
    const behindTls = await here.signIn(OPERATOR, {
      headers: { origin: here.url, 'x-forwarded-proto': 'https' },
    });
    expect(behindTls.headers.get('set-cookie')).toContain('Secure');
  });

  it('opens for the right name and token only, says the same whatever was wrong, and logs no token', async () => {
    const wrong = [
      { name: 'operator-name', token: 'not-a-token-at-all-1' },
      { name: 'viewer-name', token: TOKENS.operator },
      { name: 'nobody', token: '' },
    ];
    for (const form of wrong) {
      const page = await here.signIn(form);
      expect([page.status, page.headers.get('set-cookie')]).toEqual([401, null]);
      expect(page.text).toContain('No such name and token.');
    }
    expect(lines.filter((line) => line.includes('a sign-in failed'))).toHaveLength(wrong.length);
    await here.signIn(OPERATOR);
    const all = lines.join('');
    for (const secret of [TOKENS.operator, 'not-a-token-at-all-1', 'console='])
      expect(all).not.toContain(secret);
  });

  it('stays open for others while somebody guesses behind the same address', async () => {
    const guess = { name: 'somebody-else', token: 'not-a-token-at-all-2' };
    const [own, ...guesses] = await Promise.all([
      here.signIn(OPERATOR),
      ...Array.from({ length: 15 }, () => here.signIn(guess)),
      here.signIn(OPERATOR),
    ]);
    expect([own.status, guesses.at(-1)!.status]).toEqual([303, 303]);
    expect(guesses.slice(0, -1).filter(({ status }) => status === 429).length).toBeGreaterThan(0);
  });

  it('believes as many proxies about where somebody is as it was told of', async () => {
    const headers = { origin: here.url, 'x-forwarded-for': '203.0.113.9, 198.51.100.7' };
    const wrong = { name: 'from-afar', token: 'not-a-token-at-all-3' };
    lines.length = 0;
    await here.signIn(wrong, { headers });
    expect(lines.join('')).toContain('"from":"::ffff:127.0.0.1"');
    const behind = await dashboard({ ...environment, TRUSTED_PROXIES: '1' }, { log });
    await behind.signIn(wrong, { headers: { ...headers, origin: behind.url } });
    await behind.close();
    expect(lines.join('')).toContain('"from":"198.51.100.7"');
    expect(lines.join('')).not.toContain('203.0.113.9');
  });

  it('closes after eight hours, and for a cookie that somebody made', async () => {
    const cookie = await here.signedIn('viewer');
    expect((await here.get('/', { cookie })).status).toBe(200);
    const forged = cookie.replace(
      /=[^.]+/,
      `=${Buffer.from('{"name":"operator-name","until":9e15}').toString('base64url')}`,
    );
    expect((await here.get('/', { cookie: forged })).status).toBe(303);
    passedMs = SESSION_MS;
    expect((await here.get('/', { cookie })).status).toBe(303);
    expect((await here.get('/live?topic=today', { cookie })).status).toBe(401);
    passedMs = 0;
  });

  it('ends what a page listens to', async () => {
    const cookie = await here.signedIn('viewer');
    passedMs = SESSION_MS - 500;
    const response = await fetch(`${here.url}/live?topic=banner`, { headers: { cookie } });
    expect(response.status).toBe(200);
    // Comes to its end by itself.
    expect(await response.text()).toContain('retry');
    passedMs = 0;
  });

  it('lets out: the browser forgets the cookie', async () => {
    const cookie = await here.signedIn('viewer');
    const page = await here.post('/sign-out', {}, { cookie });
    expect([page.status, page.headers.get('location')]).toEqual([303, '/sign-in']);
    expect(cookieOf(page)).toBe('console=');
    expect(page.headers.get('set-cookie')).toMatch(/Expires=Thu, 01 Jan 1970/);
  });
});

describe('what changes something', () => {
  it.each([
    ['another site, as browsers say', { 'sec-fetch-site': 'cross-site' }],
    ['another host of the same site', { 'sec-fetch-site': 'same-site' }],
    ['another origin', { origin: 'https://evil.example' }],
    ['a sandboxed frame', { origin: 'null' }],
    ['nobody knows where', {}],
  ])('is refused from %s', async (_what, headers: Record<string, string>) => {
    const cookie = await here.signedIn('operator');
    const form = { scope: 'global', reason: 'forged', confirmed: 'yes' };
    for (const path of ['/freezes', '/sign-out', '/sign-in', '/queues/api/queues/pause']) {
      expect((await here.post(path, form, { cookie, headers })).status).toBe(403);
    }
    expect((await here.get('/freezes', { cookie })).text).toContain('Nothing is frozen');
  });

  it('is taken from a page of ours, by either header', async () => {
    const cookie = await here.signedIn('operator');
    const form = { scope: 'ach', reason: 'a look', hours: '', user_id: '' };
    for (const headers of [{ origin: here.url }, { 'sec-fetch-site': 'same-origin' }]) {
      expect((await here.post('/freezes', form, { cookie, headers })).status).toBe(200);
    }
  });
});

describe('every page', () => {
  it('loads nothing from elsewhere and runs no script of its own', async () => {
    const cookie = await here.signedIn('viewer');
    for (const path of ['/', '/forecast', '/users', '/freezes', '/quarantine', '/sign-in']) {
      const page = await here.get(path, path === '/sign-in' ? {} : { cookie });
      expect([path, page.status]).toEqual([path, 200]);
      const policy = page.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'");
      expect(policy).not.toContain('unsafe');
      expect(page.headers.get('cache-control')).toBe('no-store');
      expect(page.text).not.toMatch(/(src|href)="(https?:)?\/\//);
      expect(page.text).not.toMatch(/<script(?![^>]* src="\/assets)|\son\w+=|style=/);
    }
  });

  it('names its style and script by what is in them', async () => {
    const { text } = await here.get('/sign-in');
    const [, style = ''] = /href="(\/assets\/console\.css\?v=\w+)"/.exec(text) ?? [];
    const page = await here.get(style);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/css; charset=utf-8']);
    expect(page.headers.get('cache-control')).toContain('immutable');
  });
});

describe('machines', () => {
  it('may ask after health without a token and after metrics with one', async () => {
    expect((await here.get('/health/live')).status).toBe(200);
    await isReady(here);
    expect(JSON.parse((await here.get('/health/ready')).text)).toMatchObject({
      checks: { dynamodb: expect.any(String) as string, redis: expect.any(String) as string },
    });
    expect((await here.get('/metrics')).status).toBe(401);
    const scraped = await here.get('/metrics', { headers: { authorization: `Bearer ${TOKENS.viewer}` } });
    expect([scraped.status, scraped.text]).toEqual([200, expect.stringContaining('collections_queue_jobs')]);
  });
});
