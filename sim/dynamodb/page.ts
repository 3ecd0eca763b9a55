import type { RawItem } from './attribute-value.ts';
import { withOwnBytes } from './admit-value.ts';
import type { Bindings, RequestBindings } from './bindings.ts';
import { bind, boundName } from './bindings.ts';
import { checkCondition } from './check-operands.ts';
import { invalid } from './errors.ts';
import { holds } from './evaluate.ts';
import type { Condition, Path } from './expression.ts';
import { IndexView } from './index-view.ts';
import type { KeySchema } from './key-schema.ts';
import { keyAttributesOf } from './key-schema.ts';
import { parseCondition } from './parse-condition.ts';
import { boundPaths, parseProjection, projected } from './projection.ts';
import type { Table } from './table.ts';
import type { Entry, View } from './view.ts';

const MAX_PAGE_BYTES = 1024 * 1024;

/** What a query and a scan ask in the same words. */
export interface PageRequest extends RequestBindings {
  readonly IndexName?: string | undefined;
  readonly ConsistentRead?: boolean | undefined;
  readonly KeyConditionExpression?: string | undefined;
  readonly FilterExpression?: string | undefined;
  readonly ProjectionExpression?: string | undefined;
  readonly Select?: string | undefined;
  readonly Limit?: number | undefined;
  readonly ExclusiveStartKey?: RawItem | undefined;
}

/** Gathers items until the limit or a megabyte is reached; both count what the filter then drops. */
export class Page {
  readonly table: Table;
  readonly view: View;
  readonly bindings: Bindings;
  isFull = false;
  private readonly filter: Condition | null;
  private readonly paths: readonly Path[] | null;
  private readonly isCountOnly: boolean;
  private readonly limit: number;
  private readonly items: RawItem[] = [];
  private count = 0;
  private scanned = 0;
  private bytes = 0;
  private last: Entry | null = null;

  constructor(table: Table, request: PageRequest) {
    this.table = table;
    this.view = viewOf(table, request);
    const key = request.KeyConditionExpression;
    const keyCondition = key === undefined ? null : parseCondition(key);
    const filter = request.FilterExpression === undefined ? null : parseCondition(request.FilterExpression);
    const projection =
      request.ProjectionExpression === undefined ? null : parseProjection(request.ProjectionExpression);
    this.bindings = bind(request, keyCondition, filter, projection);
    for (const condition of [keyCondition, filter])
      if (condition !== null) checkCondition(condition.meaning, this.bindings);
    this.filter = filter?.meaning ?? null;
    this.paths = projection === null ? null : boundPaths(projection.meaning, this.bindings);
    if (this.view instanceof IndexView) {
      const named = [...(filter?.attributes ?? []), ...(projection?.attributes ?? [])];
      checkHeld(this.view, named, this.bindings);
    }
    if (keyCondition !== null) refuseKeys(this.view.schema, filter?.attributes ?? [], this.bindings);
    this.isCountOnly = request.Select === 'COUNT';
    this.limit = request.Limit ?? Infinity;
    if (this.limit < 1) throw invalid('1 validation error detected: Limit must be at least 1');
  }

  /** Whether to go on. A limit ends the page with its last item, a megabyte only when there is another one. */
  readonly take = (entry: Entry): boolean => {
    this.isFull = this.bytes >= MAX_PAGE_BYTES;
    if (this.isFull) return false;
    this.scanned += 1;
    this.bytes += entry.bytes;
    this.last = entry;
    if (this.filter === null || holds(this.filter, entry.item, this.bindings)) this.keep(entry.item);
    this.isFull = this.scanned >= this.limit;
    return !this.isFull;
  };

  /** A key after which the condition allows no other: the reader need not ask again. Indexes hold keys twice. */
  endsAt(key: string | null): void {
    if (this.view instanceof IndexView || this.last?.key !== key) return;
    this.isFull = false;
  }

  answer(): object {
    return {
      $metadata: {},
      Count: this.count,
      ScannedCount: this.scanned,
      ...(this.isCountOnly ? {} : { Items: this.items }),
      ...(this.isFull && this.last !== null ? { LastEvaluatedKey: this.keyOf(this.last.item) } : {}),
    };
  }

  private keep(item: RawItem): void {
    this.count += 1;
    if (this.isCountOnly) return;
    this.items.push(withOwnBytes(this.paths === null ? item : projected(item, this.paths)));
  }

  private keyOf(item: RawItem): RawItem {
    const ofTable = keyAttributesOf(this.table.schema, item);
    return this.view === this.table.items
      ? ofTable
      : { ...keyAttributesOf(this.view.schema, item), ...ofTable };
  }
}

function viewOf(table: Table, { IndexName, ConsistentRead, Select }: PageRequest): View {
  if (IndexName === undefined) return table.items;
  const index = table.index(IndexName);
  if (ConsistentRead === true)
    throw invalid('Consistent reads are not supported on global secondary indexes');
  if (Select === 'ALL_ATTRIBUTES' && !index.holdsEverything)
    throw invalid(`Select type ALL_ATTRIBUTES is not supported for global secondary index ${IndexName}`);
  return index;
}

/** Which attributes a key of this view must have for a next page to begin there. */
export const startKeySchemas = ({ table, view }: Page): readonly KeySchema[] =>
  view instanceof IndexView ? [view.schema, table.schema] : [table.schema];

/** An index can neither filter by nor give what it does not hold. */
function checkHeld(index: IndexView, steps: readonly string[], bindings: Bindings): void {
  if (steps.some((step) => !index.holds(boundName(bindings, step))))
    throw invalid('One or more parameter values were invalid: The index does not project an attribute');
}

/** What is known of the key belongs into the key condition, where it saves reading. */
function refuseKeys({ attributes }: KeySchema, steps: Iterable<string>, bindings: Bindings): void {
  for (const step of steps)
    if (attributes.some(({ name }) => name === boundName(bindings, step)))
      throw invalid(`Filter Expression can only contain non-primary key attributes: ${step}`);
}
