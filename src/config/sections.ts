import { z } from 'zod';
import { ACH_OVERRIDES } from '../domain/floats/ach-route.ts';
import type { FloatLimits } from '../domain/floats/granting.ts';
import { DEFAULT_FLOAT_LIMITS } from '../domain/floats/granting.ts';
import type { FloatPolicy } from '../domain/floats/policy.ts';
import { DEFAULT_FLOAT_POLICY } from '../domain/floats/policy.ts';
import type { RecurringPolicy } from '../domain/recurring/policy.ts';
import { DEFAULT_RECURRING_POLICY } from '../domain/recurring/policy.ts';
import type { CollectionPolicy } from '../domain/policy.ts';
import type { Instant } from '../domain/instant.ts';
import { parseInstant } from '../domain/instant.ts';
import { DEFAULT_POLICY } from '../domain/policy.ts';
import type { Cents } from '../domain/money.ts';
import { formatMoney, parseMoney } from '../domain/money.ts';
import type { OwnedUsers } from '../domain/ownership.ts';
import { TERMS } from '../domain/subscription.ts';
import type { Tiers } from '../domain/tiers.ts';
import type { ApiToken } from '../ports/caller.ts';
import { ROLES } from '../ports/caller.ts';
import { certificatesFrom } from './certificates.ts';

/*
 * What the environment may say, by concern. A process reads the sections it needs, once, at its start. Defaults stand
 * here and in docs/configuration.md; a test compares the two.
 */

const name = z
  .string()
  .regex(/^[A-Za-z0-9_.-]{1,255}$/, 'a name of letters, digits, dots, dashes and underscores');
const anyRegion = z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'an AWS region such as us-east-1');
const region = anyRegion.default('us-east-1');
const httpUrl = z.url({ protocol: /^https?$/, error: 'a URL that begins with http:// or https://' });
const wholeNumber = (least: number, most: number) =>
  z.coerce.number(`a whole number from ${least} to ${most}`).int().min(least).max(most);
/** What an HTTP header can carry. */
const token = z.string().regex(/^[\x21-\x7e]+$/, 'a token without spaces');
const listOf = (text: string): string[] => text.split(',').map((entry) => entry.trim());
const amount = z
  .string()
  .regex(/^\d+(\.\d{1,2})?$/, 'an amount such as 0.50')
  .transform((text, context) => {
    const value = parseMoney(text);
    if (value === null) context.addIssue('an amount such as 0.50');
    return value ?? z.NEVER;
  });
/** Cents inside, dollars outside: the default as well. */
const amountOr = (byDefault: Cents) => amount.prefault(formatMoney(byDefault));

const UNIT_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };

/** `24h`, `1h30m`; milliseconds inside. */
const DURATION = '(\\d+[dhms])+';
const durationMs = (text: string): number =>
  [...text.matchAll(/(\d+)([dhms])/g)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (UNIT_MS[unit] ?? 0),
    0,
  );
const duration = (byDefault: string) =>
  z
    .string()
    .regex(new RegExp(`^${DURATION}$`), 'a length of time such as 24h or 1h30m')
    .default(byDefault)
    .transform(durationMs);
const durations = (byDefault: string) =>
  z
    .string()
    .regex(new RegExp(`^${DURATION}(, *${DURATION})*$`), `lengths of time such as ${byDefault}`)
    .default(byDefault)
    .transform((text) => listOf(text).map(durationMs) as [number, ...number[]]);

export const general = z.object({
  ENVIRONMENT: name.default('local'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
});

export const redis = z.object({
  REDIS_URL: z.url({ protocol: /^rediss?$/, error: 'a URL that begins with redis:// or rediss://' }),
});

/**
 * Every write is a transaction over several tables, and DynamoDB has no transactions across regions: the variables that
 * the older services know may differ in name, not in value.
 */
export const dynamodb = z
  .object({
    AWS_ENDPOINT_URL_DYNAMODB: httpUrl.optional(),
    DYNAMO_LEGACY_REGION: region,
    DYNAMO_DB_REGION: region,
    DYNAMO_REGION: region,
    DYNAMO_LOCK_REGION: region,
    MEMBERSHIPS_DYNAMO_REGION: region,
    BILLING_TABLE: name.default('billing-activity'),
    HISTORY_TABLE: name.default('billing-activity-history'),
    LOCKS_TABLE: name.default('locks'),
    PIPELINE_TABLE: name.default('collections-pipeline'),
    COLLECTION_HISTORY_TABLE: name.default('collection-history'),
    BYPASS_TABLE: name.default('requirements-bypass'),
    RECURRING_TABLE: name.default('recurring-payments'),
    GATEWAY_TABLE: name.default('gateway-subscriptions'),
    ENVIRONMENT: name.default('local'),
    DYNAMO_TABLE: name.optional(),
    PAGE_SIZE: wholeNumber(1, 10_000).default(500),
  })
  .superRefine((value, context) => {
    const names = Object.keys(value).filter((key) => key.endsWith('_REGION')) as (keyof typeof value)[];
    for (const other of names) {
      if (value[other] === value.DYNAMO_REGION) continue;
      context.addIssue({
        code: 'custom',
        path: [other],
        message: `the same region as DYNAMO_REGION (${value.DYNAMO_REGION}): a transaction cannot span regions`,
      });
    }
  })
  .transform(({ ENVIRONMENT, DYNAMO_TABLE = `${ENVIRONMENT}-float-service`, ...value }) => ({
    ...value,
    DYNAMO_TABLE,
  }));

export const kinesis = z.object({
  AWS_ENDPOINT_URL_KINESIS: httpUrl.optional(),
  USERS_STREAM: name.default('site-user-service-users'),
  PAYMENTS_STREAM: name.default('site-payments'),
  SUBSCRIPTIONS_STREAM: name.default('site-subscriptions'),
});

const START = 'LATEST, TRIM_HORIZON, or a time such as AT_TIMESTAMP:2026-11-16T00:00:00Z';

export type KinesisStart = 'LATEST' | 'TRIM_HORIZON' | { readonly timestamp: Instant };

/**
 * Where a stream is begun that was never read here: in prod somebody must have thought about it, the Go service reads it
 * too. And whether changes of records are told to others: the Go service has a feeder of its own.
 */
export const bridges = z
  .object({
    ENVIRONMENT: name.default('local'),
    KINESIS_START: z
      .string()
      .transform((text, context): KinesisStart => {
        if (text === 'LATEST' || text === 'TRIM_HORIZON') return text;
        const [, time = ''] = /^AT_TIMESTAMP:(.*)$/.exec(text) ?? [];
        const timestamp = parseInstant(time);
        if (timestamp !== null) return { timestamp };
        context.addIssue(START);
        return z.NEVER;
      })
      .optional(),
    FEEDER_ENABLED: z.enum(['true', 'false']).default('false'),
  })
  .refine(({ ENVIRONMENT, KINESIS_START }) => ENVIRONMENT !== 'prod' || KINESIS_START !== undefined, {
    path: ['KINESIS_START'],
    error: START,
  })
  .transform(({ KINESIS_START = 'TRIM_HORIZON', FEEDER_ENABLED }) => ({
    KINESIS_START,
    FEEDER_ENABLED: FEEDER_ENABLED === 'true',
  }));

export const services = z.object({
  USER_SERVICE_URL: httpUrl,
  PAYMENTS_SERVICE_URL: httpUrl,
  TXN_SERVICE_URL: httpUrl,
  NOTIFICATIONS_URL: httpUrl,
  USER_SERVICE_REGION: anyRegion.optional(),
  PAYMENTS_TOKEN: token.optional(),
  TXN_TOKEN: token.optional(),
  NOTIFICATIONS_TOKEN: token.optional(),
});

const apiToken = z
  .tuple([name, z.enum(ROLES), token])
  .transform(([caller, role, secret]): ApiToken => ({ name: caller, role, token: secret }));

/** Well below the lease: a charge is not sent when the lock might run out before its answer. */
export const processor = z.object({ PROCESSOR_TIMEOUT_MS: wholeNumber(100, 600_000).default(10_000) });

/** A forecast asks the same services as a run and must never compete with one. */
export const forecast = z.object({ FORECAST_RATE_PER_S: wholeNumber(1, 100_000).default(200) });

export const workers = z.object({
  COLLECTION_CONCURRENCY: wholeNumber(1, 10_000).default(50),
  PROCESSOR_RATE_PER_S: z.coerce
    .number('a number above 0, at most 100000')
    .refine((rate) => rate > 0 && rate <= 100_000, 'a number above 0, at most 100000')
    .optional(),
  QUEUE_STALL_MS: wholeNumber(500, 3_600_000).default(30_000),
  QUEUES: z
    .string()
    .transform(listOf)
    .refine((names) => names.every((queue) => queue !== ''), 'names of queues with commas between them')
    .optional(),
  METRICS_PORT: wholeNumber(0, 65_535).optional(),
});

const OWNED = 'all, none, or a range such as 0000-7fff';

/** Whose records are ours, while the Go service collects the rest. */
export const ownership = z.object({
  OWNED_USERS: z
    .string()
    .default('all')
    .transform((text, context): OwnedUsers => {
      if (text === 'all' || text === 'none') return { kind: text };
      const [, first = '', last = ''] = /^([0-9a-f]{4})-([0-9a-f]{4})$/i.exec(text) ?? [];
      const [from, to] = [Number.parseInt(first, 16), Number.parseInt(last, 16)];
      if (from <= to) return { kind: 'range', from, to };
      context.addIssue(OWNED);
      return z.NEVER;
    }),
});

export const clock = z
  .object({ ENVIRONMENT: name.default('local'), CLOCK_URL: httpUrl.optional() })
  .refine(({ ENVIRONMENT, CLOCK_URL }) => ENVIRONMENT !== 'prod' || CLOCK_URL === undefined, {
    path: ['CLOCK_URL'],
    error: 'nothing when ENVIRONMENT is prod: real money is charged on the real date',
  });

export const lock = z
  .object({
    LOCK_LEASE_MS: wholeNumber(100, 3_600_000).default(60_000),
    LOCK_HEARTBEAT_MS: wholeNumber(10, 600_000).default(1_000),
  })
  .refine(({ LOCK_LEASE_MS, LOCK_HEARTBEAT_MS }) => LOCK_LEASE_MS >= 2 * LOCK_HEARTBEAT_MS, {
    path: ['LOCK_LEASE_MS'],
    error: 'at least twice LOCK_HEARTBEAT_MS: one lost heartbeat must not lose the lock',
  });

export const janitor = z.object({
  /** Longer than any processor keeps a request under way: an attempt that it does not know by then was never made. */
  ATTEMPT_ABANDON_AFTER: duration('24h'),
  JANITOR_DELAYS: durations('5m,1h,24h'),
});

const TOKENS =
  'name:role:token entries with commas between them; roles are viewer, service, operator; each name once';

/** What is wrong with them, by whose they are: a token is never shown. */
function objectionTo(tokens: readonly ApiToken[]): string | null {
  const ofToken = new Map<string, string>();
  for (const { name: caller, token: secret } of tokens) {
    const other = ofToken.get(secret);
    // Whoever sends it could be either, and may be taken for the one who may more.
    if (other !== undefined) return `${other} and ${caller} have the same, and each needs one of its own`;
    ofToken.set(secret, caller);
  }
  return null;
}

const apiTokens = z.string(TOKENS).transform((text, context): ApiToken[] => {
  const entries = listOf(text).map((entry) => apiToken.safeParse(entry.split(':')).data);
  const tokens = entries.filter((entry) => entry !== undefined);
  const isClear = new Set(tokens.map(({ name: caller }) => caller)).size === entries.length;
  const objection = isClear ? objectionTo(tokens) : null;
  if (!isClear) context.addIssue(TOKENS);
  if (objection !== null) context.addIssue(`${TOKENS}; ${objection}`);
  return tokens;
});

/** Shorter ones can be guessed. */
const SHORTEST_TOKEN = 16;
/** As the tokens of .env.example do, which everybody knows. */
const WELL_KNOWN = 'change-me';

interface WithTokens {
  readonly ENVIRONMENT: string;
  readonly API_TOKENS: readonly ApiToken[];
}

function secretInProd({ ENVIRONMENT, API_TOKENS }: WithTokens, context: z.RefinementCtx): void {
  if (ENVIRONMENT !== 'prod') return;
  const refuse = (message: string): void =>
    context.addIssue({ code: 'custom', path: ['API_TOKENS'], message });
  if (API_TOKENS.some(({ token: secret }) => secret.startsWith(WELL_KNOWN)))
    refuse(`tokens of your own when ENVIRONMENT is prod: one still begins with ${WELL_KNOWN}`);
  const short = API_TOKENS.find(({ token: secret }) => secret.length < SHORTEST_TOKEN);
  if (short !== undefined)
    refuse(
      `tokens of ${SHORTEST_TOKEN} characters or more when ENVIRONMENT is prod: that of ${short.name} is shorter`,
    );
}

/** Who may call the API. There is no default: an API that anybody may call is refused. */
export const api = z
  .object({
    ENVIRONMENT: name.default('local'),
    PORT: wholeNumber(0, 65_535).default(3_000),
    API_TOKENS: apiTokens,
    API_RATE_PER_MINUTE: wholeNumber(1, 1_000_000).default(6_000),
  })
  .superRefine(secretInProd);

/** Who may call the API may sign in, with the same token. */
export const dashboard = z
  .object({
    ENVIRONMENT: name.default('local'),
    DASHBOARD_PORT: wholeNumber(0, 65_535).default(3_001),
    API_TOKENS: apiTokens,
    TRUSTED_PROXIES: wholeNumber(0, 10).default(0),
    METRICS_SOURCES: z
      .string()
      .transform(listOf)
      .refine(
        (urls) => urls.every((url) => httpUrl.safeParse(url).success),
        'URLs such as http://workers:9100/metrics with commas between them',
      )
      .optional(),
  })
  .superRefine(secretInProd);

/** The bank's rules for an entry that came back hold for every product. */
const policyOfAch = {
  ACH_REPRESENT_MAX: wholeNumber(0, 2).default(DEFAULT_POLICY.achRepresentMax),
  ACH_REPRESENT_MIN_BANKING_DAYS: wholeNumber(1, 60).default(DEFAULT_POLICY.achRepresentMinBankingDays),
};

/** The rules' numbers. Their reasons stand in src/domain/policy.ts. */
export const policy = z
  .object({
    OLD_SUBSCRIPTION_DAYS: wholeNumber(1, 3_650).default(DEFAULT_POLICY.oldSubscriptionDays),
    BALANCE_BUFFER: amountOr(DEFAULT_POLICY.balanceBuffer),
    RETRY_MAX_ATTEMPTS: wholeNumber(1, 1_000).default(DEFAULT_POLICY.retryMaxAttempts),
    WEBHOOK_MAX_PER_DAY: wholeNumber(0, 100).default(DEFAULT_POLICY.webhookMaxPerDay),
    ...policyOfAch,
  })
  .transform((value): CollectionPolicy => ({
    oldSubscriptionDays: value.OLD_SUBSCRIPTION_DAYS,
    balanceBuffer: value.BALANCE_BUFFER,
    retryMaxAttempts: value.RETRY_MAX_ATTEMPTS,
    webhookMaxPerDay: value.WEBHOOK_MAX_PER_DAY,
    achRepresentMax: value.ACH_REPRESENT_MAX,
    achRepresentWindowDays: DEFAULT_POLICY.achRepresentWindowDays,
    achRepresentMinBankingDays: value.ACH_REPRESENT_MIN_BANKING_DAYS,
  }));

/** The numbers of the rules for floats. Their reasons stand in src/domain/floats/policy.ts and granting.ts. */
export const floats = z
  .object({
    FLOAT_MAX_AMOUNT: amountOr(DEFAULT_FLOAT_LIMITS.maxAmount),
    FLOAT_MAX_DAYS_AHEAD: wholeNumber(0, 3_650).default(DEFAULT_FLOAT_LIMITS.maxDaysAhead),
    FLOAT_MAX_FAILED_ACH: wholeNumber(1, 100).default(DEFAULT_FLOAT_POLICY.maxFailedAch),
    FLOAT_WEBHOOKS_PER_DAY: wholeNumber(0, 100).default(DEFAULT_FLOAT_POLICY.webhookPerDay),
    FLOAT_MAX_DAYS_PAST_DUE: wholeNumber(1, 3_650).default(DEFAULT_FLOAT_POLICY.maxDaysPastDue),
    FLOAT_RETRY_BUFFER: amountOr(DEFAULT_FLOAT_POLICY.retryBuffer),
    FLOAT_WEBHOOK_MIN_BALANCE: amountOr(DEFAULT_FLOAT_POLICY.webhookMinBalance),
    FLOAT_TWO_FAILURES_GATE: z.enum(['true', 'false']).default('false'),
    FLOAT_ACH_OVERRIDE: z.enum(ACH_OVERRIDES).default('off'),
    ACH_REPRESENT_MAX: policyOfAch.ACH_REPRESENT_MAX,
    ACH_REPRESENT_MIN_BANKING_DAYS: policyOfAch.ACH_REPRESENT_MIN_BANKING_DAYS,
  })
  .transform(({ FLOAT_ACH_OVERRIDE: achOverride, ...value }) => ({
    achOverride,
    floatLimits: {
      maxAmount: value.FLOAT_MAX_AMOUNT,
      maxDaysAhead: value.FLOAT_MAX_DAYS_AHEAD,
    } satisfies FloatLimits,
    floatPolicy: {
      maxFailedAch: value.FLOAT_MAX_FAILED_ACH,
      webhookPerDay: value.FLOAT_WEBHOOKS_PER_DAY,
      maxDaysPastDue: value.FLOAT_MAX_DAYS_PAST_DUE,
      retryBuffer: value.FLOAT_RETRY_BUFFER,
      webhookMinBalance: value.FLOAT_WEBHOOK_MIN_BALANCE,
      twoFailuresGate: value.FLOAT_TWO_FAILURES_GATE === 'true',
      achRepresentMax: value.ACH_REPRESENT_MAX,
      achRepresentWindowDays: DEFAULT_FLOAT_POLICY.achRepresentWindowDays,
      achRepresentMinBankingDays: value.ACH_REPRESENT_MIN_BANKING_DAYS,
    } satisfies FloatPolicy,
  }));

const RETRY_DAYS = /^(none|\d{1,2}(, *\d{1,2}){0,9})$/;

/** The numbers of the rules for recurring payments. Their reasons stand in src/domain/recurring/policy.ts. */
export const recurring = z
  .object({
    RECURRING_REMINDER_DAYS: wholeNumber(0, 28).default(DEFAULT_RECURRING_POLICY.reminderDays),
    RECURRING_RETRY_DAYS: z
      .string()
      .regex(RETRY_DAYS, 'numbers of days such as 1,3,7, or none')
      .default(DEFAULT_RECURRING_POLICY.retryDays.join(',')),
    RECURRING_MAX_DAYS_PAST_DUE: wholeNumber(1, 3_650).default(DEFAULT_RECURRING_POLICY.maxDaysPastDue),
    RECURRING_RECEIPT_DAYS: wholeNumber(1, 36_500).default(DEFAULT_RECURRING_POLICY.receiptDays),
  })
  .transform((value): RecurringPolicy => ({
    reminderDays: value.RECURRING_REMINDER_DAYS,
    retryDays: value.RECURRING_RETRY_DAYS === 'none' ? [] : listOf(value.RECURRING_RETRY_DAYS).map(Number),
    maxDaysPastDue: value.RECURRING_MAX_DAYS_PAST_DUE,
    receiptDays: value.RECURRING_RECEIPT_DAYS,
  }))
  .refine(({ retryDays }) => retryDays.every((days) => days > 0), {
    path: ['RECURRING_RETRY_DAYS'],
    error: 'days of one and more: nobody is charged twice on one day',
  })
  .refine(({ retryDays, maxDaysPastDue }) => sum(retryDays) <= maxDaysPastDue, {
    path: ['RECURRING_RETRY_DAYS'],
    error: 'no more days in all than RECURRING_MAX_DAYS_PAST_DUE: later tries would never be made',
  });

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

const TIERS = '{"Base":{"v0":{"MONTHLY":"4.99","YEARLY":"39.99"}},"Plus":{"v1":{"MONTHLY":"9.99"}}}';
const tierPrices = z.record(name, z.record(name, z.partialRecord(z.enum(TERMS), amount)));

/** What memberships cost, by tier, version and term. */
export const tiers = z
  .object({
    TIERS: z
      .string()
      .default(TIERS)
      .transform((text, context): Tiers => {
        const { data } = tierPrices.safeParse(jsonOf(text));
        if (data === undefined) context.addIssue(`prices by tier, version and term such as ${TIERS}`);
        return (data as Tiers | undefined) ?? z.NEVER;
      }),
  })
  .transform(({ TIERS: prices }) => prices);

/** Undefined for what is no JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const CERTIFICATES = 'files of certificates (PEM or DER) with commas between them, or certificates as PEM';
/** As Apple writes it in what it signs. Its other environments sign nothing. */
const APPLE_ENVIRONMENTS = ['Production', 'Sandbox'] as const;

/** How webhooks of payment gateways are told from forged ones. A gateway without its secret is off. */
export const gateways = z
  .object({
    LEMONSQUEEZY_SECRET: token.optional(),
    APPLE_ROOT_CERTS: z
      .string()
      .transform((text, context): readonly Uint8Array[] => {
        try {
          return certificatesFrom(text);
        } catch (error) {
          context.addIssue(`${CERTIFICATES}: ${(error as Error).message}`);
          return z.NEVER;
        }
      })
      .optional(),
    APPLE_BUNDLE_ID: name.optional(),
    APPLE_APP_ID: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional(),
    APPLE_ENVIRONMENT: z.enum(APPLE_ENVIRONMENTS).optional(),
  })
  .transform((value, context) => ({
    lemonSqueezy: value.LEMONSQUEEZY_SECRET === undefined ? null : { secret: value.LEMONSQUEEZY_SECRET },
    apple: appleFrom(value, (path, message) => context.addIssue({ code: 'custom', path: [path], message })),
  }));

interface AppleVariables {
  readonly APPLE_ROOT_CERTS?: readonly Uint8Array[] | undefined;
  readonly APPLE_BUNDLE_ID?: string | undefined;
  readonly APPLE_APP_ID?: number | undefined;
  readonly APPLE_ENVIRONMENT?: (typeof APPLE_ENVIRONMENTS)[number] | undefined;
}

function appleFrom(value: AppleVariables, refuse: (variable: string, must: string) => void) {
  const { APPLE_ROOT_CERTS: rootCertificates, APPLE_BUNDLE_ID: bundleId, APPLE_APP_ID: appId } = value;
  const environment = value.APPLE_ENVIRONMENT ?? 'Production';
  if (rootCertificates === undefined) return null;
  if (bundleId === undefined) refuse('APPLE_BUNDLE_ID', 'the app that is sold, such as com.example.app');
  if (appId === undefined && environment === 'Production')
    refuse('APPLE_APP_ID', 'the number of the app in the App Store, unless APPLE_ENVIRONMENT is Sandbox');
  return { rootCertificates, bundleId: bundleId ?? '', appId, environment };
}

/** Where Datadog's agent listens for counts. */
export const datadog = z.object({
  DD_AGENT_HOST: z
    .string()
    .regex(/^[A-Za-z0-9.-]+$/, 'a host name or an IPv4 address')
    .optional(),
});
