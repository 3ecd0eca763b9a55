import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKinesisClient } from '../../src/adapters/kinesis/client.ts';
import { ensureStream } from '../../src/adapters/kinesis/streams.ts';
import type { Answer } from '../support/cli.ts';
import { cli as runCli } from '../support/cli.ts';
import { closedPort } from '../support/processes.ts';
import { startSandbox } from '../support/sandbox.ts';
import { sharedStack } from '../support/stack.ts';

const suffix = randomUUID().slice(0, 8);
const { redisUrl, dynamodbUrl, kinesisUrl } = sharedStack();
const names = {
  BILLING_TABLE: `cli-billing-${suffix}`,
  HISTORY_TABLE: `cli-history-${suffix}`,
  LOCKS_TABLE: `cli-locks-${suffix}`,
  PIPELINE_TABLE: `cli-pipeline-${suffix}`,
  USERS_STREAM: `cli-users-${suffix}`,
  PAYMENTS_STREAM: `cli-payments-${suffix}`,
  SUBSCRIPTIONS_STREAM: `cli-subscriptions-${suffix}`,
};
const servers = {
  REDIS_URL: redisUrl,
  AWS_ENDPOINT_URL_DYNAMODB: dynamodbUrl,
  AWS_ENDPOINT_URL_KINESIS: kinesisUrl,
};

let bank: Awaited<ReturnType<typeof startSandbox>>;
let environment: Record<string, string>;

beforeAll(async () => {
  const kinesis = createKinesisClient({ region: 'us-east-1', endpoint: kinesisUrl });
  await ensureStream(kinesis, names.PAYMENTS_STREAM, 1);
  kinesis.destroy();
  bank = await startSandbox({ kinesisEndpoint: kinesisUrl, paymentsStream: names.PAYMENTS_STREAM });
  const services = ['USER_SERVICE_URL', 'TXN_SERVICE_URL', 'PAYMENTS_SERVICE_URL', 'NOTIFICATIONS_URL'];
  environment = {
    ...names,
    ...servers,
    ...Object.fromEntries(services.map((name) => [name, bank.url])),
    CLOCK_URL: `${bank.url}/clock`,
  };
});
afterAll(() => bank.stop());

const cli = (args: string[], overrides: Record<string, string> = {}): Promise<Answer> =>
  runCli(args, { ...environment, ...overrides });

describe('collections', () => {
  it('doctor says what is missing before the tables are made, and how to mend it', async () => {
    const { code, out } = await cli(['doctor']);
    expect(code).toBe(1);
    expect(out).toMatch(
      new RegExp(`✗ DynamoDB: ${names.BILLING_TABLE}: missing: run .npm run cli -- tables`),
    );
    expect(out).toMatch(new RegExp(`✗ Kinesis: ${names.USERS_STREAM}: missing`));
    expect(out).toContain('✓ Redis: maxmemory-policy: noeviction');
    expect(out).toContain('✓ Payments service');
  });

  it('tables makes everything once and then finds it there', async () => {
    const first = await cli(['tables']);
    expect(first.code).toBe(0);
    expect(first.out).toContain(`+ ${names.BILLING_TABLE}: table made`);
    expect(first.out).toContain(`+ ${names.USERS_STREAM}: Kinesis stream made`);
    const second = await cli(['tables']);
    expect(second.out).not.toContain('made');
    expect(second.out).toContain(`= ${names.LOCKS_TABLE}: TTL on deleteOn there`);
  });

  it('tables makes no stream in prod and says so', async () => {
    const { code, out } = await cli(['tables'], {
      ENVIRONMENT: 'prod',
      CLOCK_URL: '',
      USERS_STREAM: `prod-${suffix}`,
    });
    expect(code).toBe(0);
    expect(out).toContain(`! prod-${suffix}: Kinesis stream missing; in prod its owner makes it`);
  });

  it('doctor is content when everything is there', async () => {
    const { code, out } = await cli(['doctor']);
    expect(out).not.toContain('✗');
    expect(out).toContain("the sandbox's clock says");
    expect(out).toContain('healthy');
    expect(code).toBe(0);
  });

  it('doctor goes on when one dependency does not answer and names each', async () => {
    const port = await closedPort();
    const nowhere = `http://127.0.0.1:${port}`;
    const { code, out } = await cli(['doctor'], {
      REDIS_URL: `redis://127.0.0.1:${port}`,
      PAYMENTS_SERVICE_URL: nowhere,
      AWS_ENDPOINT_URL_KINESIS: nowhere,
      LOG_LEVEL: 'loud',
    });
    expect(code).toBe(1);
    expect(out).toMatch(/✗ Redis: reach: .*ECONNREFUSED/);
    expect(out).toMatch(/✗ Payments service: reach: .*ECONNREFUSED/);
    expect(out).toMatch(/✗ Kinesis: reach: /);
    expect(out).toMatch(/✗ Rules: reach: LOG_LEVEL is "loud"; must be one of/);
    expect(out).toContain('✓ User service');
    expect(out).toContain('4 things are wrong');
  });

  it('doctor says which service does not accept us, and what would keep a role from starting', async () => {
    const seen: (string | undefined)[] = [];
    const guarded = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(401).end();
    });
    await new Promise<void>((resolve) => guarded.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(guarded.address() as AddressInfo).port}`;
    try {
      const { code, out } = await cli(['doctor'], {
        PAYMENTS_SERVICE_URL: url,
        PAYMENTS_TOKEN: 'not-the-right-one',
        TXN_SERVICE_URL: url,
        TIERS: 'cheap',
      });
      expect(code).toBe(1);
      expect(out).toContain(`✗ Payments service: ${url}: answers 401: it does not accept our PAYMENTS_TOKEN`);
      expect(out).toContain(
        `✗ Transactions service: ${url}: answers 401: it wants to know who asks, set TXN_TOKEN`,
      );
      expect(out).toMatch(/✗ Rules: reach: TIERS/);
      expect(seen.sort()).toEqual(['Bearer not-the-right-one', undefined]);
      const short = await cli(['doctor'], { LOCK_LEASE_MS: '5000' });
      expect(short.out).toMatch(/✗ Rules: reach: LOCK_LEASE_MS is 5000; must be at least/);
    } finally {
      guarded.close();
    }
  });

  it('doctor says which variable is missing', async () => {
    const { code, out } = await cli(['doctor'], { TXN_SERVICE_URL: '' });
    expect(code).toBe(1);
    expect(out).toContain('TXN_SERVICE_URL is not set');
  });

  it('sandbox seed makes members at the bank and in the tables, and leaves them alone the second time', async () => {
    const first = await cli(['sandbox', 'seed', '--users', '130', '--prefix', 'cli']);
    expect(first.out).toMatch(/130 members made with \d+ records/);
    const member = await fetch(`${bank.url}/users/cli-000130`);
    expect(await member.json()).toMatchObject({ user_id: 'cli-000130' });
    const second = await cli(['sandbox', 'seed', '--users', '131', '--prefix', 'cli']);
    expect(second.out).toMatch(/1 members? made with \d+ records; 130 were there already/);
  });

  it('sandbox seed refuses prod', async () => {
    const { code, error } = await cli(['sandbox', 'seed'], { ENVIRONMENT: 'prod', CLOCK_URL: '' });
    expect([code, error]).toEqual([1, expect.stringContaining('ENVIRONMENT is prod')]);
  });

  it('sandbox clock shows and sets the time, advance lets it pass', async () => {
    expect((await cli(['sandbox', 'clock', '2027-03-01T08:00:00Z'])).out).toMatch(
      /it is 2027-03-01T08:00:0\d/,
    );
    expect((await cli(['sandbox', 'advance', '36h'])).out).toMatch(/it is 2027-03-02T20:0\d/);
    expect((await cli(['sandbox', 'clock'])).out).toMatch(/^2027-03-02T20:0\d/);
  });

  it.each([
    [['sandbox', 'clock', 'tomorrow'], '2026-11-16T08:00:00Z'],
    [['sandbox', 'advance', 'soon'], 'by'],
    [['sandbox', 'seed', '--users', '-5'], 'whole number'],
    [['sandbox', 'seed', '--prefix', 'A B'], 'small letters'],
    [['fly'], "unknown command 'fly'"],
    [['tables', '--all'], "unknown option '--all'"],
  ])('%j is refused with what is allowed, and no stack trace', async (args, said) => {
    const { code, error } = await cli(args);
    expect(code).toBe(1);
    expect(error).toContain(said);
    expect(error).not.toMatch(/\n\s+at /);
  });

  it('says what to do when nobody answers', async () => {
    const { code, error } = await cli(['sandbox', 'clock'], {
      PAYMENTS_SERVICE_URL: `http://127.0.0.1:${await closedPort()}`,
    });
    expect(code).toBe(1);
    expect(error).toContain('doctor');
  });

  it.each([['--help'], ['tables', '--help'], ['doctor', '--help'], ['sandbox', 'seed', '--help']])(
    '%s %s has help',
    async (...args) => {
      const { code, out } = await cli(args);
      expect(code).toBe(0);
      expect(out).toContain('Usage: collections');
    },
  );
});
