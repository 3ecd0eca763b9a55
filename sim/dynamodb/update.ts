import type { RawItem, Value } from './attribute-value.ts';
import { elementsOf, includes, isSet, setOf, typeOf } from './attribute-value.ts';
import type { Bindings } from './bindings.ts';
import { boundPath, boundValue, valueAt } from './bindings.ts';
import { addNumbers, negated } from './decimal.ts';
import type { Edit } from './edit.ts';
import { edited } from './edit.ts';
import { invalid } from './errors.ts';
import type { Action, NewValue } from './expression.ts';

/** The item after an update. Everything that an expression reads it reads from the item before. */
export function updated(item: RawItem, actions: readonly Action[], bindings: Bindings): RawItem {
  const edits: Edit[] = [];
  for (const action of actions) {
    edits.push({ path: boundPath(bindings, action.path), value: valueAfter(item, action, bindings) });
  }
  return edited(item, edits);
}

/** Null: nothing. */
function valueAfter(item: RawItem, action: Action, bindings: Bindings): Value | null {
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

function without(before: Value | undefined, less: Value): Value | null {
  if (before === undefined) return null;
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
