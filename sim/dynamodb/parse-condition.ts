import { invalid } from './errors.ts';
import type { Comparator, Condition, Operand, Path } from './expression.ts';
import type { Parser } from './parser.ts';
import { parserOf } from './parser.ts';

const COMPARATORS: ReadonlySet<string> = new Set(['=', '<>', '<', '<=', '>', '>=']);
const FUNCTIONS: ReadonlySet<string> = new Set([
  'attribute_exists',
  'attribute_not_exists',
  'attribute_type',
  'begins_with',
  'contains',
]);
const MOST_CHOICES = 100;

/** Of conditions, filters and key conditions. */
export const parseCondition = parserOf(disjunction);

function disjunction(parser: Parser): Condition {
  let left = conjunction(parser);
  while (parser.takeKeyword('OR')) left = { kind: 'or', left, right: conjunction(parser) };
  return left;
}

function conjunction(parser: Parser): Condition {
  let left = negation(parser);
  while (parser.takeKeyword('AND')) left = { kind: 'and', left, right: negation(parser) };
  return left;
}

function negation(parser: Parser): Condition {
  if (parser.takeKeyword('NOT')) return { kind: 'not', condition: negation(parser) };
  if (parser.next.text === '(') return inParentheses(parser);
  const { text } = parser.next;
  const isCall = parser.next.kind === 'word' && parser.afterNext?.text === '(';
  return isCall && text !== 'size' ? call(parser) : comparison(parser);
}

function inParentheses(parser: Parser): Condition {
  parser.expectSymbol('(');
  const condition = disjunction(parser);
  parser.expectSymbol(')');
  return condition;
}

function comparison(parser: Parser): Condition {
  const operand = anyOperand(parser);
  if (parser.takeKeyword('BETWEEN')) {
    const lower = anyOperand(parser);
    if (!parser.takeKeyword('AND')) throw parser.syntaxError();
    return { kind: 'between', operand, lower, upper: anyOperand(parser) };
  }
  if (parser.takeKeyword('IN')) return { kind: 'in', operand, choices: choices(parser) };
  if (!COMPARATORS.has(parser.next.text)) throw parser.syntaxError();
  const comparator = parser.take().text as Comparator;
  return { kind: 'compare', comparator, left: operand, right: anyOperand(parser) };
}

function choices(parser: Parser): readonly Operand[] {
  parser.expectSymbol('(');
  const all = parser.list(() => anyOperand(parser));
  parser.expectSymbol(')');
  if (all.length > MOST_CHOICES)
    throw invalid('Invalid number of operands for operator or function; operator or function: IN');
  return all;
}

function call(parser: Parser): Condition {
  const name = parser.take().text;
  if (!FUNCTIONS.has(name)) throw invalid(`Invalid function name; function: ${name}`);
  parser.expectSymbol('(');
  const path = onlyPath(parser, name);
  const condition = isAboutExistence(name)
    ? { kind: name, path }
    : { kind: name as 'contains', path, operand: secondOperand(parser) };
  parser.expectSymbol(')');
  return condition;
}

const isAboutExistence = (name: string): name is 'attribute_exists' | 'attribute_not_exists' =>
  name === 'attribute_exists' || name === 'attribute_not_exists';

function secondOperand(parser: Parser): Operand {
  parser.expectSymbol(',');
  return anyOperand(parser);
}

function onlyPath(parser: Parser, name: string): Path {
  const operand = anyOperand(parser);
  if (operand.kind === 'path') return operand.path;
  throw invalid(`Operator or function requires a document path; operator or function: ${name}`);
}

function anyOperand(parser: Parser): Operand {
  if (parser.next.kind === 'value') return { kind: 'value', value: parser.value() };
  if (parser.next.text !== 'size' || parser.afterNext?.text !== '(')
    return { kind: 'path', path: parser.path() };
  parser.take();
  parser.expectSymbol('(');
  const path = onlyPath(parser, 'size');
  parser.expectSymbol(')');
  return { kind: 'size', path };
}
