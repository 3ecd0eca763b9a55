import { byInstant } from '../instant.ts';
import { UnreadableItem, cents, optionalText, text } from '../record.ts';
import type { PlainItem } from '../source.ts';

/** A cash advance, as its row has it. */
export interface FloatRow {
  readonly floatId: string;
  readonly userId: string;
  readonly status: string;
  readonly amountCents: number;
  /** `YYYY-MM-DD`, as all dates here. */
  readonly dueDate: string;
  readonly lastRunTime: bigint;
}

/** A row of `collection-history`. The service before us wrote neither method nor attempt. */
export interface LogRow {
  readonly userId: string;
  readonly runTime: bigint;
  readonly runDate: string;
  /** The stage that asked. */
  readonly process: string;
  readonly outcome: string;
  readonly method: string | null;
  readonly attemptId: string | null;
  /** What sets it apart from others of its outcome. */
  readonly remark: string | null;
}

/** The remark on a row that tells that an attempt was given up: the processor never knew of it. */
export const NOT_PRESENTED = 'not-presented';

/** Which of a user's floats are not paid back. */
export interface OpenSet {
  readonly floatIds: ReadonlySet<string>;
}

const FLOAT = 'FLOAT#';
const OPEN_SET = 'USER#';

/** How a float is called among the records: attempts, verdicts and violations name it so. */
export const recordIdOf = (floatId: string): string => `float.${floatId}`;

/** Null: it is a billing record's. */
export const floatIdOf = (recordId: string): string | null =>
  recordId.startsWith('float.') ? recordId.slice('float.'.length) : null;

/** Also of an item that cannot be read otherwise. Null: the item is no float. */
export const floatIdOfItem = (item: PlainItem): string | null => afterPrefix(item, FLOAT);

/** Null: the item is no set of open floats. */
export const ownerOfOpenSet = (item: PlainItem): string | null => afterPrefix(item, OPEN_SET);

function afterPrefix(item: PlainItem, prefix: string): string | null {
  const key = item['PK'];
  return typeof key === 'string' && key.startsWith(prefix) ? key.slice(prefix.length) : null;
}

export function readFloatRow(item: PlainItem): FloatRow {
  const floatId = text(item, 'float_id');
  if (floatIdOfItem(item) !== floatId) throw new UnreadableItem('float_id is not that of the key');
  return {
    floatId,
    userId: text(item, 'user_id'),
    status: text(item, 'status'),
    amountCents: cents(item, 'amount'),
    dueDate: date(item, 'due_date'),
    lastRunTime: nanos(item, 'last_run_time'),
  };
}

export const readLogRow = (item: PlainItem): LogRow => ({
  userId: text(item, 'user_id'),
  runTime: nanos(item, 'run_time'),
  runDate: date(item, 'run_date'),
  process: text(item, 'process'),
  outcome: text(item, 'outcome'),
  method: optionalText(item, 'method') || null,
  attemptId: optionalText(item, 'attempt_id') || null,
  remark: optionalText(item, 'remark') || null,
});

/** The last id that leaves takes the attribute along; the item stays. */
export function readOpenSet(item: PlainItem): OpenSet {
  const ids = item['open_floats'] ?? new Set<unknown>();
  if (!(ids instanceof Set)) throw new UnreadableItem('open_floats is no set');
  return { floatIds: new Set([...(ids as ReadonlySet<unknown>)].map(String)) };
}

export const oldestRowFirst = (a: LogRow, b: LogRow): number => byInstant(a.runTime, b.runTime);

function date(item: PlainItem, name: string): string {
  const found = text(item, name);
  if (!/^\d{4}-\d\d-\d\d$/.test(found) || Number.isNaN(Date.parse(found)))
    throw new UnreadableItem(`${name} is no date`);
  return found;
}

/** Nanoseconds since 1970, which are more than a number holds: they come as text. */
function nanos(item: PlainItem, name: string): bigint {
  const value = item[name];
  const spelled = typeof value === 'number' ? String(value) : value;
  if (typeof spelled !== 'string' || !/^\d+$/.test(spelled)) throw new UnreadableItem(`${name} is no time`);
  return BigInt(spelled);
}
