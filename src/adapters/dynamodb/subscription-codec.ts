import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Instant } from '../../domain/instant.ts';
import { UNSET_TEXT, formatInstant, parseInstant } from '../../domain/instant.ts';
import type { Cents } from '../../domain/money.ts';
import { formatMoney, parseMoney } from '../../domain/money.ts';
import type { Process, Subscription, Term } from '../../domain/subscription.ts';
import { BILLING_STATUSES, PROCESSES, TERMS } from '../../domain/subscription.ts';
import { MalformedRowError } from '../../errors.ts';
import type { RawItem } from './raw-item.ts';
import { keyText } from './raw-item.ts';

/** How one attribute is read and written. Reading throws a plain Error that says what is wrong with the value. */
interface Codec<T> {
  read(value: AttributeValue | undefined): T;
  /** Undefined: the attribute is left out. */
  write(value: T): AttributeValue | undefined;
}

/**
 * How each field is stored. The Go service writes empty strings, Go's zero time and NULL where nothing is set, and
 * leaves out `is_pending_downgrade` when it is false; absent attributes are read the same way.
 */
const FIELDS: {
  readonly [K in keyof Subscription]: readonly [attribute: string, codec: Codec<Subscription[K]>];
} = {
  userId: ['user_id', requiredText()],
  billingDate: ['billing_date', utcInstant()],
  subscriptionId: ['subscription_id', requiredText()],
  billingAmount: ['billing_amount', money()],
  billingStatus: ['billing_status', oneOf(BILLING_STATUSES)],
  billingPeriod: ['billing_period', optionalText()],
  transactionId: ['transaction_id', optionalText()],
  usioError: ['usio_error', optionalText()],
  initialRunDate: ['initial_run_date', optionalInstant()],
  completionDate: ['completion_date', optionalInstant()],
  lastRunDate: ['last_run_date', optionalInstant()],
  createdDate: ['created_date', optionalInstant()],
  process: ['process', processName()],
  updatedEvent: ['updated_event', optionalText()],
  term: ['term', termName()],
  receiptAccountMask: ['receipt_account_mask', optionalText()],
  receiptTierName: ['receipt_tier_name', optionalText()],
  receiptPaymentType: ['receipt_payment_type', optionalText()],
  billingWeek: ['billing_week', fridayOfMonth()],
  pauseDurationMonths: ['pause_duration_months', wholeNumber()],
  isPendingDowngrade: ['is_pending_downgrade', trueOrAbsent()],
};

const FIELD_NAMES = Object.keys(FIELDS) as (keyof Subscription)[];

/** Attributes that live in the history row only. */
const DATA_PREFIX = 'data_';

/** Throws a MalformedRowError that names the row and the attribute. */
export function readSubscription(item: RawItem): Subscription {
  const fields = FIELD_NAMES.map((name) => [name, readField(item, name)] as const);
  return Object.fromEntries(fields) as unknown as Subscription;
}

/**
 * The item for a record. Whatever still means the same as in `before` keeps its exact bytes, also attributes that we do
 * not know; only what was changed is spelled our way.
 */
export function writeSubscription(subscription: Subscription, before: RawItem | null): RawItem {
  const item: RawItem = before === null ? {} : withoutData(before);
  for (const name of FIELD_NAMES) writeField(item, name, subscription, before);
  return item;
}

export const withData = (item: RawItem, data: Readonly<Record<string, string>>): RawItem => ({
  ...item,
  ...Object.fromEntries(Object.entries(data).map(([name, value]) => [DATA_PREFIX + name, { S: value }])),
});

/** The `data_*` of a history row, without the prefix; values that are no text as JSON. */
export function readData(item: RawItem): Record<string, string> {
  const data: Record<string, string> = {};
  for (const [name, value] of Object.entries(item)) {
    if (name.startsWith(DATA_PREFIX)) data[name.slice(DATA_PREFIX.length)] = value.S ?? JSON.stringify(value);
  }
  return data;
}

const withoutData = (item: RawItem): RawItem =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !name.startsWith(DATA_PREFIX)));

function readField<K extends keyof Subscription>(item: RawItem, name: K): Subscription[K] {
  const [attribute, codec] = FIELDS[name];
  try {
    return codec.read(item[attribute]);
  } catch (error) {
    const key = keyText(item, 'user_id', 'billing_date', 'last_run_date');
    const row = {
      userId: item['user_id']?.S ?? '?',
      subscriptionId: item['subscription_id']?.S ?? key,
      attribute,
    };
    throw new MalformedRowError(`row ${key}: ${attribute} ${(error as Error).message}`, row, {
      cause: error,
    });
  }
}

function writeField<K extends keyof Subscription>(
  item: RawItem,
  name: K,
  subscription: Subscription,
  before: RawItem | null,
): void {
  const [attribute, codec] = FIELDS[name];
  const value = subscription[name];
  if (before !== null && codec.read(before[attribute]) === value) return;
  const written = codec.write(value);
  if (written === undefined) Reflect.deleteProperty(item, attribute);
  else item[attribute] = written;
}

// What an attribute may look like. Function declarations, because the table above is built first.

function stringOf(value: AttributeValue | undefined): string {
  if (value === undefined || value.NULL === true) return '';
  if (value.S === undefined) throw new Error(`is not text: ${JSON.stringify(value)}`);
  return value.S;
}

function optionalText(): Codec<string> {
  return { read: stringOf, write: (value) => ({ S: value }) };
}

function requiredText<T extends string>(): Codec<T> {
  return {
    read: (value) => {
      const found = stringOf(value);
      if (found === '') throw new Error('is missing');
      return found as T;
    },
    write: (value) => ({ S: value }),
  };
}

function oneOf<T extends string>(allowed: readonly T[]): Codec<T> {
  return {
    read: (value) => {
      const found = stringOf(value);
      if (!isOneOf(allowed, found))
        throw new Error(`is ${JSON.stringify(found)}, not one of ${allowed.join(', ')}`);
      return found;
    },
    write: (value) => ({ S: value }),
  };
}

/** A process that a newer Go service has and we do not know decides nothing here; its text stays as it is. */
function processName(): Codec<Process | null> {
  return {
    read: (value) => {
      const found = stringOf(value);
      if (found === '') return null;
      return isOneOf(PROCESSES, found) ? found : 'NOT_IDENTIFIED';
    },
    write: (value) => ({ S: value ?? '' }),
  };
}

/** MONTHLY is the default of rows that have none. */
function termName(): Codec<Term> {
  const known = oneOf(TERMS);
  return {
    read: (value) => (stringOf(value) === '' ? 'MONTHLY' : known.read(value)),
    write: (value) => ({ S: value }),
  };
}

function money(): Codec<Cents> {
  return {
    read: (value) => {
      const found = stringOf(value);
      const amount = parseMoney(found);
      if (amount === null || amount < 0)
        throw new Error(`is ${JSON.stringify(found)}, not an amount such as "4.99"`);
      return amount;
    },
    write: (value) => ({ S: formatMoney(value) }),
  };
}

function instantOf(found: string): Instant {
  const instant = parseInstant(found);
  if (instant === null)
    throw new Error(`is ${JSON.stringify(found)}, not a time such as "2026-11-16T06:00:00Z"`);
  return instant;
}

/** A sort key: with another offset than UTC it would not be found among what is due, so it is reported instead. */
function utcInstant(): Codec<Instant> {
  return {
    read: (value) => {
      const found = stringOf(value);
      if (!found.endsWith('Z'))
        throw new Error(`is ${JSON.stringify(found)}, not a time in UTC such as "2026-11-16T06:00:00Z"`);
      return instantOf(found);
    },
    write: (value) => ({ S: formatInstant(value) }),
  };
}

function optionalInstant(): Codec<Instant | null> {
  return {
    read: (value) => {
      const found = stringOf(value);
      return found === '' || found === UNSET_TEXT ? null : instantOf(found);
    },
    write: (value) => ({ S: value === null ? UNSET_TEXT : formatInstant(value) }),
  };
}

function wholeNumber(): Codec<number> {
  return {
    read: (value) => {
      if (value === undefined || value.NULL === true) return 0;
      const number = Number(value.N ?? Number.NaN);
      if (!Number.isSafeInteger(number)) throw new Error(`is not a whole number: ${JSON.stringify(value)}`);
      return number;
    },
    write: (value) => ({ N: String(value) }),
  };
}

function fridayOfMonth(): Codec<number | null> {
  const number = wholeNumber();
  return {
    read: (value) => {
      if (value === undefined || value.NULL === true) return null;
      const week = number.read(value);
      if (week < 1 || week > 5) throw new Error(`is ${week}, not a Friday of the month (1 to 5)`);
      return week;
    },
    write: (value) => (value === null ? { NULL: true } : number.write(value)),
  };
}

function trueOrAbsent(): Codec<boolean> {
  return {
    read: (value) => {
      if (value === undefined || value.NULL === true) return false;
      if (value.BOOL === undefined) throw new Error(`is not a boolean: ${JSON.stringify(value)}`);
      return value.BOOL;
    },
    write: (value) => (value ? { BOOL: true } : undefined),
  };
}

function isOneOf<T extends string>(allowed: readonly T[], value: string): value is T {
  return (allowed as readonly string[]).includes(value);
}
