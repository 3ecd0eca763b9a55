import type { Value, ValueType } from './attribute-value.ts';
import { TYPES, compare, isOrdered, isSet, typeOf } from './attribute-value.ts';
import type { Bindings } from './bindings.ts';
import { boundPath, boundValue } from './bindings.ts';
import { invalid } from './errors.ts';
import type { Action, Condition, NewValue, Operand, SetOperand } from './expression.ts';

/*
 * What DynamoDB refuses before it looks at any item, because the values of the request cannot fit where they stand.
 */

export function checkCondition(condition: Condition, bindings: Bindings): void {
  const typeGiven = (operand: Operand): ValueType | null =>
    operand.kind === 'value'
      ? typeOf(boundValue(bindings, operand.value))
      : operand.kind === 'size'
        ? 'N'
        : null;
  const refuse = (operator: string, operand: Operand, isFit: (type: ValueType) => boolean): void => {
    const type = typeGiven(operand);
    if (type !== null && !isFit(type)) throw misfit(operator, type);
  };
  switch (condition.kind) {
    case 'and':
    case 'or':
      checkCondition(condition.left, bindings);
      checkCondition(condition.right, bindings);
      return;
    case 'not':
      checkCondition(condition.condition, bindings);
      return;
    case 'compare': {
      const { comparator, left, right } = condition;
      if (comparator !== '=' && comparator !== '<>')
        for (const operand of [left, right]) refuse(comparator, operand, isOrdered);
      checkDistinct(comparator, left, [right], bindings);
      return;
    }
    case 'between':
      for (const operand of [condition.operand, condition.lower, condition.upper])
        refuse('BETWEEN', operand, isOrdered);
      checkDistinct('BETWEEN', condition.operand, [condition.lower, condition.upper], bindings);
      checkBounds(condition.lower, condition.upper, bindings);
      return;
    case 'begins_with':
      refuse('begins_with', condition.operand, (type) => type === 'S' || type === 'B');
      checkDistinct(condition.kind, { kind: 'path', path: condition.path }, [condition.operand], bindings);
      return;
    case 'attribute_type':
      checkType(condition.operand, bindings);
      return;
    case 'in':
      checkDistinct('IN', condition.operand, condition.choices, bindings);
      return;
    case 'contains':
      checkDistinct(condition.kind, { kind: 'path', path: condition.path }, [condition.operand], bindings);
      return;
    case 'attribute_exists':
    case 'attribute_not_exists':
      return;
  }
}

const misfit = (operator: string, type: ValueType): Error =>
  invalid(`Incorrect operand type for operator or function; operator: ${operator}, operand type: ${type}`);

function checkDistinct(
  operator: string,
  first: Operand,
  others: readonly Operand[],
  bindings: Bindings,
): void {
  if (others.some((other) => samePath(first, other, bindings)))
    throw invalid(
      `The first operand must be distinct from the remaining operands for this operator or function; operator: ${operator}`,
    );
}

function samePath(left: Operand, right: Operand, bindings: Bindings): boolean {
  if (left.kind !== 'path' || right.kind !== 'path') return false;
  const [a, b] = [boundPath(bindings, left.path), boundPath(bindings, right.path)];
  return a.length === b.length && a.every((step, i) => step === b[i]);
}

function checkBounds(lower: Operand, upper: Operand, bindings: Bindings): void {
  if (lower.kind !== 'value' || upper.kind !== 'value') return;
  const order = compare(boundValue(bindings, lower.value), boundValue(bindings, upper.value));
  if (order === undefined)
    throw invalid('The BETWEEN operator requires same data type for lower and upper bounds');
  if (order > 0)
    throw invalid('The BETWEEN operator requires upper bound to be greater than or equal to lower bound');
}

function checkType(operand: Operand, bindings: Bindings): void {
  const type: Value | null = operand.kind === 'value' ? boundValue(bindings, operand.value) : null;
  if (type?.S === undefined) throw misfit('attribute_type', type === null ? 'M' : typeOf(type));
  if (!TYPES.some((known) => known === type.S))
    throw invalid(`Invalid attribute type name found; type: ${type.S}`);
}

export function checkActions(actions: readonly Action[], bindings: Bindings): void {
  for (const action of actions) {
    if (action.kind === 'SET') checkNewValue(action.value, bindings);
    else if (action.kind !== 'REMOVE') {
      const type = typeOf(boundValue(bindings, action.value));
      const isFit = isSet(type) || (action.kind === 'ADD' && type === 'N');
      if (!isFit) throw misfit(action.kind, type);
    }
  }
}

function checkNewValue(value: NewValue, bindings: Bindings): void {
  switch (value.kind) {
    case '+':
    case '-':
      for (const operand of [value.left, value.right]) requireType(value.kind, operand, 'N', bindings);
      return;
    case 'list_append':
      for (const operand of [value.left, value.right]) requireType(value.kind, operand, 'L', bindings);
      return;
    case 'if_not_exists':
      checkNewValue(value.otherwise, bindings);
      return;
    case 'path':
    case 'value':
      return;
  }
}

function requireType(operator: string, operand: SetOperand, wanted: ValueType, bindings: Bindings): void {
  if (operand.kind === 'list_append')
    throw invalid('The function is not allowed to be used this way in an expression; function: list_append');
  if (operand.kind !== 'value') {
    checkNewValue(operand, bindings);
    return;
  }
  const type = typeOf(boundValue(bindings, operand.value));
  if (type !== wanted) throw misfit(operator, type);
}
