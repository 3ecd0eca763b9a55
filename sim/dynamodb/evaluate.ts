import type { RawItem, Value } from './attribute-value.ts';
import { compare, elementsOf, equal, includes, typeOf } from './attribute-value.ts';
import type { Bindings } from './bindings.ts';
import { boundValue, valueAt } from './bindings.ts';
import type { Comparator, Condition, Operand } from './expression.ts';

const NOTHING: RawItem = {};

/** Whether a condition holds for an item, or for the absence of one. */
export const holds = (condition: Condition, item: RawItem | null, bindings: Bindings): boolean =>
  evaluate(condition, item ?? NOTHING, bindings);

function evaluate(condition: Condition, item: RawItem, bindings: Bindings): boolean {
  const value = (operand: Operand): Value | undefined => operandValue(operand, item, bindings);
  switch (condition.kind) {
    case 'and':
      return evaluate(condition.left, item, bindings) && evaluate(condition.right, item, bindings);
    case 'or':
      return evaluate(condition.left, item, bindings) || evaluate(condition.right, item, bindings);
    case 'not':
      return !evaluate(condition.condition, item, bindings);
    case 'compare':
      return compares(condition.comparator, value(condition.left), value(condition.right));
    case 'between': {
      const operand = value(condition.operand);
      return (
        compares('>=', operand, value(condition.lower)) && compares('<=', operand, value(condition.upper))
      );
    }
    case 'in': {
      const operand = value(condition.operand);
      return condition.choices.some((choice) => compares('=', operand, value(choice)));
    }
    case 'attribute_exists':
      return valueAt(item, condition.path, bindings) !== undefined;
    case 'attribute_not_exists':
      return valueAt(item, condition.path, bindings) === undefined;
    default: {
      const operand = value(condition.operand);
      const subject = valueAt(item, condition.path, bindings);
      return subject !== undefined && operand !== undefined && RELATIONS[condition.kind](subject, operand);
    }
  }
}

/** What is missing equals nothing and has no order; it is different from everything. */
function compares(comparator: Comparator, left: Value | undefined, right: Value | undefined): boolean {
  if (left === undefined || right === undefined) return comparator === '<>';
  if (comparator === '=') return equal(left, right);
  if (comparator === '<>') return !equal(left, right);
  const order = compare(left, right);
  return order !== undefined && ORDERS[comparator](order);
}

const ORDERS = {
  '<': (order: number) => order < 0,
  '<=': (order: number) => order <= 0,
  '>': (order: number) => order > 0,
  '>=': (order: number) => order >= 0,
};

const RELATIONS = {
  attribute_type: (subject: Value, type: Value) => typeOf(subject) === type.S,
  begins_with: beginsWith,
  contains: (subject: Value, wanted: Value) => {
    if (subject.S !== undefined) return wanted.S !== undefined && subject.S.includes(wanted.S);
    if (subject.B !== undefined)
      return wanted.B !== undefined && Buffer.from(subject.B).includes(Buffer.from(wanted.B));
    return includes(elementsOf(subject), wanted);
  },
};

function beginsWith(subject: Value, prefix: Value): boolean {
  if (subject.S !== undefined) return prefix.S !== undefined && subject.S.startsWith(prefix.S);
  if (subject.B === undefined || prefix.B === undefined) return false;
  return Buffer.compare(subject.B.subarray(0, prefix.B.length), prefix.B) === 0;
}

function operandValue(operand: Operand, item: RawItem, bindings: Bindings): Value | undefined {
  if (operand.kind === 'value') return boundValue(bindings, operand.value);
  const value = valueAt(item, operand.path, bindings);
  if (operand.kind === 'path' || value === undefined) return value;
  const size = sizeOf(value);
  return size === undefined ? undefined : { N: String(size) };
}

function sizeOf(value: Value): number | undefined {
  if (value.S !== undefined) return value.S.length;
  if (value.B !== undefined) return value.B.length;
  if (value.M !== undefined) return Object.keys(value.M).length;
  const type = typeOf(value);
  return type === 'N' || type === 'BOOL' || type === 'NULL' ? undefined : elementsOf(value).length;
}
