import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readConfig } from '../../../src/config/read-config.ts';
import * as sections from '../../../src/config/sections.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import { ConfigurationError } from '../../../src/errors.ts';

const SERVICES = {
  USER_SERVICE_URL: 'http://users',
  PAYMENTS_SERVICE_URL: 'http://payments',
  TXN_SERVICE_URL: 'https://txn',
  NOTIFICATIONS_URL: 'http://notes',
};
const COMPLETE = {
  REDIS_URL: 'redis://localhost:6379',
  API_TOKENS: 'ops:operator:a-token-of-tests',
  ...SERVICES,
};

const read = (environment: Record<string, string>) => readConfig({ ...COMPLETE, ...environment }, sections);

function complaint(environment: Record<string, string>): string {
  try {
    read(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as Error).message;
  }
  throw new Error('nothing was refused');
}

describe('configuration', () => {
  it('has a default for everything but Redis, the services and who may call', () => {
    const { dynamodb, kinesis, lock, policy, clock } = read({});
    expect(dynamodb).toMatchObject({
      BILLING_TABLE: 'billing-activity',
      HISTORY_TABLE: 'billing-activity-history',
      LOCKS_TABLE: 'locks',
      PIPELINE_TABLE: 'collections-pipeline',
      PAGE_SIZE: 500,
    });
    expect(kinesis.USERS_STREAM).toBe('site-user-service-users');
    expect(lock).toEqual({ LOCK_LEASE_MS: 60_000, LOCK_HEARTBEAT_MS: 1_000 });
    expect(policy).toEqual(DEFAULT_POLICY);
    expect(clock.CLOCK_URL).toBeUndefined();
    expect(read({ ATTEMPT_ABANDON_AFTER: '1d2h3m4s' }).janitor.ATTEMPT_ABANDON_AFTER).toBe(93_784_000);
  });

  it('reads what workers, the janitor and forecasts go by', () => {
    const { workers, processor, janitor, forecast, services } = read({});
    expect(workers).toEqual({ COLLECTION_CONCURRENCY: 50, QUEUE_STALL_MS: 30_000 });
    expect(processor.PROCESSOR_TIMEOUT_MS).toBe(10_000);
    expect(janitor.JANITOR_DELAYS).toEqual([300_000, 3_600_000, 86_400_000]);
    expect(forecast.FORECAST_RATE_PER_S).toBe(200);
    expect(services).toEqual(SERVICES);
    expect(read({ JANITOR_DELAYS: '90s, 1h30m' }).janitor.JANITOR_DELAYS).toEqual([90_000, 5_400_000]);
    expect(
      read({
        QUEUES: 'janitor, ach-events',
        METRICS_PORT: '0',
        PROCESSOR_RATE_PER_S: '0.5',
        COLLECTION_CONCURRENCY: '7',
      }).workers,
    ).toEqual({
      COLLECTION_CONCURRENCY: 7,
      PROCESSOR_RATE_PER_S: 0.5,
      QUEUE_STALL_MS: 30_000,
      QUEUES: ['janitor', 'ach-events'],
      METRICS_PORT: 0,
    });
  });

  it.each([
    ['all', { kind: 'all' }],
    ['none', { kind: 'none' }],
    ['0000-7fff', { kind: 'range', from: 0, to: 0x7fff }],
    ['8000-FFFF', { kind: 'range', from: 0x8000, to: 0xffff }],
    ['00aa-00aa', { kind: 'range', from: 0xaa, to: 0xaa }],
  ])('reads OWNED_USERS=%s', (text, owned) => {
    expect(read({ OWNED_USERS: text }).ownership.OWNED_USERS).toEqual(owned);
  });

  it('reads prices in cents', () => {
    expect(read({}).tiers).toEqual({
      Base: { v0: { MONTHLY: 499, YEARLY: 3999 } },
      Plus: { v1: { MONTHLY: 999 } },
    });
    expect(read({ TIERS: '{"Gold":{"v2":{"YEARLY":"100"}}}' }).tiers).toEqual({
      Gold: { v2: { YEARLY: 10_000 } },
    });
    expect(read({ DD_AGENT_HOST: '10.0.0.7' }).datadog.DD_AGENT_HOST).toBe('10.0.0.7');
  });

  it('takes an empty value for one that is not set', () => {
    expect(read({ BILLING_TABLE: '', CLOCK_URL: '' }).dynamodb.BILLING_TABLE).toBe('billing-activity');
  });

  it('reads only the sections that a process needs', () => {
    expect(readConfig({ REDIS_URL: 'nonsense' }, { lock: sections.lock }).lock.LOCK_LEASE_MS).toBe(60_000);
  });

  it.each([
    ['REDIS_URL', 'http://localhost', 'redis://'],
    ['AWS_ENDPOINT_URL_DYNAMODB', 'localhost:8000', 'http://'],
    ['DYNAMO_LOCK_REGION', 'virginia', 'us-east-1'],
    ['BILLING_TABLE', 'my table', 'letters'],
    ['PAGE_SIZE', '0', 'a whole number from 1 to'],
    ['PAGE_SIZE', 'many', 'whole number'],
    ['PAGE_SIZE', '2.5', 'whole number'],
    ['LOG_LEVEL', 'loud', 'one of trace, debug'],
    ['BALANCE_BUFFER', '1.234', 'an amount'],
    ['BALANCE_BUFFER', '-1', 'an amount'],
    ['ACH_REPRESENT_MAX', '3', 'a whole number from 0 to 2'],
    ['LOCK_LEASE_MS', '1500', 'twice LOCK_HEARTBEAT_MS'],
    ['USER_SERVICE_URL', 'ftp://users', 'http://'],
    ['ATTEMPT_ABANDON_AFTER', 'soon', 'a length of time'],
    ['JANITOR_DELAYS', '5m,,1h', 'lengths of time'],
    ['JANITOR_DELAYS', '5m,soon', 'lengths of time'],
    ['OWNED_USERS', '8000-7fff', 'a range such as 0000-7fff'],
    ['OWNED_USERS', '0-7fff', 'a range such as 0000-7fff'],
    ['OWNED_USERS', '0000-gggg', 'a range such as 0000-7fff'],
    ['OWNED_USERS', 'half', 'all, none, or a range'],
    ['COLLECTION_CONCURRENCY', '0', 'a whole number from 1 to'],
    ['PROCESSOR_RATE_PER_S', '0', 'a number above 0, at most 100000'],
    ['PROCESSOR_RATE_PER_S', '100001', 'a number above 0, at most 100000'],
    ['PROCESSOR_RATE_PER_S', 'fast', 'a number above 0, at most 100000'],
    ['PROCESSOR_TIMEOUT_MS', '99', 'a whole number from 100 to'],
    ['QUEUE_STALL_MS', '499', 'a whole number from 500 to'],
    ['QUEUES', 'janitor,,ach-events', 'names of queues'],
    ['METRICS_PORT', '65536', 'a whole number from 0 to 65535'],
    ['FORECAST_RATE_PER_S', '0', 'a whole number from 1 to'],
    ['USER_SERVICE_REGION', 'virginia', 'us-east-1'],
    ['TIERS', '{', 'prices by tier, version and term'],
    ['TIERS', '{"Base":{"MONTHLY":"4.99"}}', 'prices by tier, version and term'],
    ['TIERS', '{"Base":{"v0":{"WEEKLY":"4.99"}}}', 'prices by tier, version and term'],
    ['TIERS', '{"Base":{"v0":{"MONTHLY":4.99}}}', 'prices by tier, version and term'],
    ['DD_AGENT_HOST', 'http://agent', 'a host name'],
    ['DASHBOARD_PORT', '70000', 'a whole number from 0 to 65535'],
    ['METRICS_SOURCES', 'http://workers:9100/metrics,bridges:9100', 'URLs such as'],
  ])('refuses %s=%s and says what is allowed', (name, value, allowed) => {
    const message = complaint({ [name]: value });
    expect(message).toContain(name);
    expect(message).toContain(allowed);
  });

  it('names every bad value at once', () => {
    const message = complaint({ PAGE_SIZE: 'x', LOG_LEVEL: 'x', REDIS_URL: 'x', OLD_SUBSCRIPTION_DAYS: 'x' });
    for (const name of ['PAGE_SIZE', 'LOG_LEVEL', 'REDIS_URL', 'OLD_SUBSCRIPTION_DAYS'])
      expect(message).toContain(name);
  });

  it('names what is missing', () => {
    expect(() => readConfig({}, { services: sections.services })).toThrow(/USER_SERVICE_URL is not set/);
  });

  it('never repeats a value that may hold a password', () => {
    expect(complaint({ REDIS_URL: 'http://:secret@localhost' })).not.toContain('secret');
    expect(complaint({ PAYMENTS_TOKEN: 'two secrets' })).not.toContain('secrets');
  });

  it('refuses regions that differ, because a transaction cannot span them', () => {
    const message = complaint({ DYNAMO_LOCK_REGION: 'eu-west-1' });
    expect(message).toContain('DYNAMO_LOCK_REGION');
    expect(message).toContain('a transaction cannot span regions');
    const moved = Object.fromEntries(
      [
        'DYNAMO_REGION',
        'DYNAMO_DB_REGION',
        'DYNAMO_LEGACY_REGION',
        'DYNAMO_LOCK_REGION',
        'MEMBERSHIPS_DYNAMO_REGION',
      ].map((name) => [name, 'eu-west-1']),
    );
    expect(read(moved).dynamodb.DYNAMO_LOCK_REGION).toBe('eu-west-1');
  });

  it('refuses the tokens of the example in prod, and shows none', () => {
    const [, tokens = ''] =
      /^API_TOKENS=(.*)$/m.exec(readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8')) ??
      [];
    expect(complaint({ ENVIRONMENT: 'prod', KINESIS_START: 'LATEST', API_TOKENS: tokens })).toMatch(
      /^bad configuration:\n {2}API_TOKENS must be tokens of your own when ENVIRONMENT is prod: .*change-me$/,
    );
    expect(read({ ENVIRONMENT: 'staging', API_TOKENS: tokens }).api.API_TOKENS).toHaveLength(3);
    expect(read({ ENVIRONMENT: 'prod', KINESIS_START: 'LATEST' }).dashboard.API_TOKENS).toHaveLength(1);
  });

  it('says whose token is too short or another’s, and shows none', () => {
    const twins = 'a:operator:the-same-token-twice,b:viewer:the-same-token-twice';
    expect(complaint({ API_TOKENS: twins })).toContain(
      'a and b have the same, and each needs one of its own',
    );
    expect(complaint({ API_TOKENS: twins })).not.toContain('the-same-token');
    const short = { API_TOKENS: 'a:operator:fifteen-letters' };
    const refused = complaint({ ...short, ENVIRONMENT: 'prod', KINESIS_START: 'LATEST' });
    expect(refused).toContain('16 characters or more when ENVIRONMENT is prod: that of a is shorter');
    expect(refused).not.toContain('fifteen');
    expect(read(short).api.API_TOKENS).toMatchObject([{ name: 'a', role: 'operator' }]);
  });

  it('reads when a declined recurring payment is tried again, and refuses what would never be', () => {
    expect(read({}).recurring.retryDays).toEqual([1, 3, 7]);
    expect(read({ RECURRING_RETRY_DAYS: '2, 5' }).recurring.retryDays).toEqual([2, 5]);
    expect(read({ RECURRING_RETRY_DAYS: 'none' }).recurring.retryDays).toEqual([]);
    expect(complaint({ RECURRING_RETRY_DAYS: '1,0' })).toContain('RECURRING_RETRY_DAYS');
    expect(complaint({ RECURRING_RETRY_DAYS: 'soon' })).toContain('such as 1,3,7');
    expect(complaint({ RECURRING_RETRY_DAYS: '20,20' })).toContain('RECURRING_MAX_DAYS_PAST_DUE');
  });

  it('refuses a simulated clock in prod', () => {
    expect(complaint({ ENVIRONMENT: 'prod', CLOCK_URL: 'http://clock' })).toContain('CLOCK_URL');
    expect(read({ ENVIRONMENT: 'staging', CLOCK_URL: 'http://clock' }).clock.CLOCK_URL).toBe('http://clock');
  });
});

describe('docs/configuration.md', () => {
  const rows = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8').matchAll(
    /^\| `([A-Z_]+)` +\| (?:`([^`]+)`|(\w+)) +\|/gm,
  );
  const documented = new Map([...rows].map(([, name, value, word]) => [name!, value ?? word!]));

  it('has every variable with its default', () => {
    const inputs = Object.entries(sections).map(([section, schema]) => ({
      section,
      json: z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }),
    }));
    const found = new Map<string, string>();
    for (const { json } of inputs) {
      const required = new Set(json.required ?? []);
      for (const [name, property] of Object.entries(json.properties ?? {})) {
        const value = (property as { default?: string | number }).default;
        found.set(name, value === undefined ? (required.has(name) ? 'required' : 'off') : String(value));
      }
    }
    // Named after another variable.
    found.set('DYNAMO_TABLE', '{ENVIRONMENT}-float-service');
    expect(found.size).toBeGreaterThan(25);
    for (const [name, value] of found) expect([name, documented.get(name)]).toEqual([name, value]);
  });
});
