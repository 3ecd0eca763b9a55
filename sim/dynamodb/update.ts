import type { RawItem, Value } from './attribute-value.ts';
import { elementsOf, includes, isSet, setOf, typeOf } from './attribute-value.ts';
import type { Bindings } from './bindings.ts';
import { boundPath, boundValue, valueAt } from './bindings.ts';
import { addNumbers, negated } from './decimal.ts';
import type { Edit } from './edit.ts';
import { edited } from './edit.ts';
import { invalid } from './errors.ts';
import type { Action, NewValue, Path } from './expression.ts';

/** The item after an update. Everything that an expression reads it reads from the item before. */
export function updated(item: RawItem, actions: readonly Action[], bindings: Bindings): RawItem {
  const edits: Edit[] = [];
  for (const action of actions) {
    const path = boundPath(bindings, action.path);
    const value = valueAfter(item, action, bindings);
    if (value !== undefined) edits.push({ path, value });
  }
  return edited(item, edits);
}

/** Null: it is taken away; undefined: it stays as it is. */
function valueAfter(item: RawItem, action: Action, bindings: Bindings): Value | null | undefined {
  switch (action.kind) {
    case 'REMOVE':
      return null;
    case 'SET':
      return evaluated(action.value, item, bindings);
    case 'ADD':
      return added(valueAt(item, action.path, bindings), boundValue(bindings, action.value));
    case 'DELETE':
      return without(valueAt(item, action.path, bindings), boundValue(bindings, action.value));
  }
}

function evaluated(value: NewValue, item: RawItem, bindings: Bindings): Value {
  switch (value.kind) {
    case 'value':
      return boundValue(bindings, value.value);
    case 'path':
      return required(valueAt(item, value.path, bindings));
    case 'if_not_exists':
      return valueAt(item, value.path, bindings) ?? evaluated(value.otherwise, item, bindings);
    case 'list_append': {
      const [left, right] = [evaluated(value.left, item, bindings), evaluated(value.right, item, bindings)];
      if (left.L === undefined || right.L === undefined) throw wrongType();
      return Object.freeze({ L: Object.freeze([...left.L, ...right.L]) as Value[] });
    }
    case '+':
    case '-': {
      const [left, right] = [evaluated(value.left, item, bindings), evaluated(value.right, item, bindings)];
      if (left.N === undefined || right.N === undefined) throw wrongType();
      const addend = value.kind === '+' ? right.N : negated(right.N);
      return Object.freeze({ N: addNumbers(left.N, addend) });
    }
  }
}

function required(value: Value | undefined): Value {
  if (value === undefined)
    throw invalid('The provided expression refers to an attribute that does not exist in the item');
  return value;
}

const wrongType = (): Error => invalid('An operand in the update expression has an incorrect data type');

function added(before: Value | undefined, more: Value): Value {
  if (before === undefined) return more;
  if (before.N !== undefined && more.N !== undefined)
    return Object.freeze({ N: addNumbers(before.N, more.N) });
  const type = typeOf(before);
  if (!isSet(type) || type !== typeOf(more)) throw wrongType();
  const elements = elementsOf(before);
  return frozenSet(before, [
    ...elements,
    ...elementsOf(more).filter((element) => !includes(elements, element)),
  ]);
}

function without(before: Value | undefined, less: Value): Value | null | undefined {
  if (before === undefined) return undefined;
  if (typeOf(before) !== typeOf(less)) throw wrongType();
  const gone = elementsOf(less);
  const left = elementsOf(before).filter((element) => !includes(gone, element));
  return left.length === 0 ? null : frozenSet(before, left);
}

function frozenSet(like: Value, elements: readonly Value[]): Value {
  const set = setOf(typeOf(like), elements);
  Object.freeze(set.SS ?? set.NS ?? set.BS);
  return Object.freeze(set);
}

/** No path may be, or lie within, another one: what would become of it is not defined. */
export function checkPaths(actions: readonly Action[], bindings: Bindings): void {
  if (actions.length === 1) return;
  const paths = actions.map(({ path }) => boundPath(bindings, path));
  paths.forEach((path, i) => {
    for (const other of paths.slice(i + 1)) {
      if (overlap(path, other))
        throw invalid('Invalid UpdateExpression: Two document paths overlap with each other');
      if (conflict(path, other))
        throw invalid('Invalid UpdateExpression: Two document paths conflict with each other');
    }
  });
}

const overlap = (a: Path, b: Path): boolean =>
  a[0] === b[0] && a.every((step, i) => i >= b.length || step === b[i]);

/** The same place would have to be a map for one and a list for the other. */
function conflict(a: Path, b: Path): boolean {
  const fork = a.findIndex((step, i) => step !== b[i]);
  return typeof a[fork] !== typeof b[fork];
}
