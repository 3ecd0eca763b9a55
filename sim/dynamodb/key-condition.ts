import type { Value } from './attribute-value.ts';
import { sortable } from './attribute-value.ts';
import type { Bindings } from './bindings.ts';
import { boundName, boundValue } from './bindings.ts';
import { invalid } from './errors.ts';
import type { Condition, Operand, Path } from './expression.ts';
import type { KeyAttribute, KeySchema } from './key-schema.ts';
import { checkKeyValue } from './key-schema.ts';

/** A stretch of one partition, in terms of sortable keys. */
export interface KeyRange {
  readonly partition: string;
  readonly isBelow: (key: string) => boolean;
  readonly isAbove: (key: string) => boolean;
  /** The first and the last key that it can hold, where the condition names them. */
  readonly first: string | null;
  readonly last: string | null;
}

type Bounds = Omit<KeyRange, 'partition'>;
const never = (): boolean => false;
const EVERYTHING: Bounds = { isBelow: never, isAbove: never, first: null, last: null };

/** What a key condition selects: one partition, and of its sort keys one value, one stretch, or all. */
export function keyRange(condition: Condition, schema: KeySchema, bindings: Bindings): KeyRange {
  const parts = condition.kind === 'and' ? [condition.left, condition.right] : [condition];
  const about = (attribute: KeyAttribute | null): Condition | undefined =>
    parts.find((part) => attribute !== null && subjectOf(part, bindings) === attribute.name);
  const [ofPartition, ofSort] = [about(schema.partition), about(schema.sort)];
  if (ofPartition === undefined)
    throw invalid(`Query condition missed key schema element: ${schema.partition.name}`);
  if (parts.some((part) => part !== ofPartition && part !== ofSort))
    throw invalid('Query key condition not supported');
  if (ofPartition.kind !== 'compare' || ofPartition.comparator !== '=')
    throw invalid('Query key condition not supported');
  const partition = keyValue(ofPartition.right, schema.partition, bindings);
  const isWhole = ofSort === undefined || schema.sort === null;
  return { partition, ...(isWhole ? EVERYTHING : bounds(ofSort, schema.sort, bindings)) };
}

function subjectOf(condition: Condition, bindings: Bindings): string {
  const path = pathOf(condition);
  if (path?.length !== 1) throw invalid('Invalid KeyConditionExpression: unsupported key condition');
  return boundName(bindings, path[0] as string);
}

function pathOf(condition: Condition): Path | undefined {
  if (condition.kind === 'begins_with') return condition.path;
  const operand =
    condition.kind === 'compare'
      ? condition.left
      : condition.kind === 'between'
        ? condition.operand
        : undefined;
  return operand?.kind === 'path' ? operand.path : undefined;
}

function bounds(condition: Condition, attribute: KeyAttribute, bindings: Bindings): Bounds {
  const text = (operand: Operand): string => keyValue(operand, attribute, bindings);
  if (condition.kind === 'between') {
    const [first, last] = [text(condition.lower), text(condition.upper)];
    return { ...between(first, last), first, last };
  }
  if (condition.kind === 'begins_with') return startingWith(text(condition.operand));
  if (condition.kind !== 'compare') throw invalid('Query key condition not supported');
  const bound = text(condition.right);
  switch (condition.comparator) {
    case '=':
      return between(bound, bound);
    case '<':
      return { ...EVERYTHING, isAbove: (key) => key >= bound };
    case '<=':
      return { ...EVERYTHING, isAbove: (key) => key > bound, last: bound };
    case '>':
      return { ...EVERYTHING, isBelow: (key) => key <= bound };
    case '>=':
      return { ...EVERYTHING, isBelow: (key) => key < bound, first: bound };
    case '<>':
      throw invalid('Unsupported operator in KeyConditionExpression: operator: <>');
  }
}

const between = (lower: string, upper: string): Bounds => ({
  ...EVERYTHING,
  isBelow: (key) => key < lower,
  isAbove: (key) => key > upper,
});

const startingWith = (prefix: string): Bounds => ({
  ...EVERYTHING,
  isBelow: (key) => key < prefix,
  isAbove: (key) => key > prefix && !key.startsWith(prefix),
});

function keyValue(operand: Operand, attribute: KeyAttribute, bindings: Bindings): string {
  if (operand.kind !== 'value')
    throw invalid('Invalid KeyConditionExpression: a key is compared with a value of the request');
  const value: Value = boundValue(bindings, operand.value);
  checkKeyValue(value, attribute);
  return sortable(value);
}
