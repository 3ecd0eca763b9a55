import { isDeepStrictEqual } from 'node:util';
import {
  DynamoDBServiceException,
  type CancellationReason,
  type TransactGetItemsCommandInput,
  type TransactWriteItem,
  type TransactWriteItemsCommandInput,
} from '@aws-sdk/client-dynamodb';
import { withOwnBytes } from './admit-value.ts';
import { refuseTwice } from './batch-requests.ts';
import { cancelled, invalid, isInvalid, tokenOfAnotherRequest } from './errors.ts';
import { projectionOf, readItem } from './item-requests.ts';
import { keyAlone, type Key } from './key-schema.ts';
import type { RowChange, Store } from './store.ts';
import type { Table } from './table.ts';
import { checkOnly, deleteWrite, putWrite, updateWrite, type Write } from './write-item.ts';

const MOST_ITEMS = 100;
const TOKEN_LIFE_MS = 10 * 60_000;
const NO_REASON: CancellationReason = { Code: 'None' };

interface Remembered {
  readonly items: readonly TransactWriteItem[];
  readonly atMs: number;
}

/** Which transactions were made under which token: the same one again is answered, and not made again. */
export class Tokens {
  private readonly remembered = new Map<string, Remembered>();
  private readonly nowMs: () => number;

  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
  }

  wereMade(token: string, items: readonly TransactWriteItem[]): boolean {
    this.forgetOld();
    const known = this.remembered.get(token);
    if (known === undefined) return false;
    if (!isDeepStrictEqual(known.items, items)) throw tokenOfAnotherRequest();
    return true;
  }

  remember(token: string, items: readonly TransactWriteItem[]): void {
    this.remembered.set(token, { items, atMs: this.nowMs() });
  }

  private forgetOld(): void {
    const oldestMs = this.nowMs() - TOKEN_LIFE_MS;
    for (const [token, { atMs }] of this.remembered) {
      if (atMs > oldestMs) return;
      this.remembered.delete(token);
    }
  }
}

export function transactWriteItems(
  store: Store,
  tokens: Tokens,
  { TransactItems: items = [], ClientRequestToken: token }: TransactWriteItemsCommandInput,
): object {
  checkCount(items.length);
  const writes = items.map((item) => writeOf(store, item));
  refuseTwice(writes.filter(hasKey).map(idOf), TWICE);
  if (token !== undefined && tokens.wereMade(token, items)) return { $metadata: {} };
  store.apply(allOrNone(writes));
  if (token !== undefined) tokens.remember(token, items);
  return { $metadata: {} };
}

function checkCount(count: number): void {
  if (count === 0 || count > MOST_ITEMS)
    throw invalid(`Member must have length between 1 and ${MOST_ITEMS}: TransactItems`);
}

function writeOf(store: Store, { ConditionCheck, Put, Update, Delete }: TransactWriteItem): Write {
  if (Put !== undefined) return putWrite(store, Put);
  if (Update !== undefined) return updateWrite(store, Update);
  if (ConditionCheck !== undefined) return checkOnly(store, ConditionCheck);
  if (Delete !== undefined) return deleteWrite(store, Delete);
  throw invalid('TransactItems can only contain one of Check, Put, Update or Delete');
}

/** Every item is looked at, also after one has refused: the answer has a reason for each. */
function allOrNone(writes: readonly Write[]): RowChange[] {
  const changes: RowChange[] = [];
  const reasons: CancellationReason[] = [];
  for (const write of writes) {
    const outcome = tried(write);
    if ('table' in outcome) changes.push(outcome);
    reasons.push('table' in outcome ? NO_REASON : outcome);
  }
  if (changes.length < writes.length) throw cancelled(reasons);
  return changes;
}

function tried(write: Write): RowChange | CancellationReason {
  const { table } = write;
  if (!hasKey(write)) return impossible(write.key as Error);
  const before = table.get(write.key);
  if (!write.allows(before)) {
    const shown = write.showsRefusing && before !== null ? withOwnBytes(before.item) : null;
    return {
      Code: 'ConditionalCheckFailed',
      Message: 'The conditional request failed',
      ...(shown === null ? {} : { Item: shown }),
    };
  }
  try {
    return { table, before, after: write.after(before) };
  } catch (error) {
    if (isInvalid(error)) return impossible(error);
    throw error;
  }
}

const impossible = ({ message }: Error): CancellationReason => ({
  Code: 'ValidationError',
  Message: message,
});

const hasKey = (write: Write): write is Write & { readonly key: Key } =>
  !(write.key instanceof DynamoDBServiceException);

export function transactGetItems(
  store: Store,
  { TransactItems: items = [] }: TransactGetItemsCommandInput,
): object {
  checkCount(items.length);
  const reads = items.map(({ Get }) => {
    const table = store.table(Get?.TableName);
    const Key = Get?.Key ?? {};
    return { table, Key, key: keyAlone(table.schema, Key), project: projectionOf(Get ?? {}) };
  });
  refuseTwice(reads.map(idOf), TWICE);
  const Responses = reads.map(({ table, Key, project }) => {
    const item = readItem(table, Key, project);
    return item === null ? {} : { Item: item };
  });
  return { $metadata: {}, Responses };
}

const TWICE = 'Transaction request cannot include multiple operations on one item';

const idOf = ({ table, key }: { readonly table: Table; readonly key: Key }): string =>
  `${table.name} ${table.idOf(key)}`;
