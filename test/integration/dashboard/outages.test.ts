import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_SERVICES } from '../../support/api.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { billingStore } from '../../support/billing-store.ts';
import type { Dashboard } from '../../support/dashboard.ts';
import { dashboard, isReady } from '../../support/dashboard.ts';
import { closedPort, eventually } from '../../support/processes.ts';
import { privateRedis } from '../../support/redis-server.ts';
import { sharedStack } from '../../support/stack.ts';

let store: BillingStore;
beforeAll(async () => {
  store = await billingStore();
});
afterAll(() => store.drop());

const tables = () => ({
  BILLING_TABLE: store.tables.billing,
  HISTORY_TABLE: store.tables.history,
  LOCKS_TABLE: store.tables.locks,
  PIPELINE_TABLE: store.tables.pipeline,
  ...NO_SERVICES,
});

const PAGES = ['/', '/forecast', '/floats', '/freezes', '/quarantine', '/users'];

async function expectPages(here: Dashboard, cookie: string, banner: string): Promise<void> {
  for (const path of PAGES) {
    const page = await here.get(path, { cookie });
    expect([path, page.status, page.text]).toEqual([path, 200, expect.stringContaining(banner)]);
  }
}

describe('without Redis', () => {
  it('says so, shows the rest, and goes on when it dies meanwhile', async () => {
    const redis = await privateRedis();
    const here = await dashboard({
      REDIS_URL: redis.url,
      AWS_ENDPOINT_URL_DYNAMODB: sharedStack().dynamodbUrl,
      ...tables(),
    });
    try {
      await isReady(here);
      const cookie = await here.signedIn('operator');
      await eventually('everything answers', async () => {
        const { text } = await here.get('/', { cookie });
        return !text.includes('does not answer');
      });
      await redis.kill();
      await eventually('it is noticed', async () =>
        (await here.get('/', { cookie })).text.includes('Redis does not answer'),
      );
      await expectPages(here, cookie, 'Redis does not answer');
      const today = (await here.get('/', { cookie })).text;
      expect(today).toContain('The queues cannot be shown right now');
      expect(today).toContain('No run today yet');
      const queues = await here.get('/queues', { cookie });
      expect([queues.status, queues.text]).toEqual([503, expect.stringContaining('Redis does not answer')]);
      const frozen = await here.post(
        '/freezes',
        { scope: 'ach', reason: 'while Redis is away', confirmed: 'yes' },
        { cookie },
      );
      expect(frozen.status).toBe(303);
      expect((await here.get('/health/ready')).text).toContain('degraded');
    } finally {
      await here.close();
      await redis.stop();
    }
  });
});

describe('without DynamoDB', () => {
  it('says so on every page, and that nothing can be changed', async () => {
    const redis = await privateRedis();
    const here = await dashboard({
      REDIS_URL: redis.url,
      AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${await closedPort()}`,
      ...tables(),
    });
    try {
      const cookie = await here.signedIn('operator');
      await expectPages(here, cookie, 'DynamoDB does not answer');
      expect((await here.get('/', { cookie })).text).toContain('The runs cannot be shown right now');
      const refused = await here.post(
        '/freezes',
        { scope: 'ach', reason: 'x', confirmed: 'yes' },
        { cookie },
      );
      expect([refused.status, refused.text]).toEqual([503, expect.stringContaining('Not now')]);
      expect(refused.text).not.toMatch(/ECONNREFUSED|127\.0\.0\.1:\d+\b.*at /);
      expect((await here.get('/health/live')).status).toBe(200);
    } finally {
      await here.close();
      await redis.stop();
    }
  });
});
