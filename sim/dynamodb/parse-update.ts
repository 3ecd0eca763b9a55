import { invalid } from './errors.ts';
import type { Action, NewValue, SetOperand } from './expression.ts';
import type { Parser } from './parser.ts';
import { parserOf } from './parser.ts';

const CLAUSES = ['SET', 'REMOVE', 'ADD', 'DELETE'] as const;

export const parseUpdate = parserOf((parser): readonly Action[] => {
  const actions: Action[] = [];
  const seen = new Set<string>();
  do {
    const clause = CLAUSES.find((keyword) => parser.takeKeyword(keyword));
    if (clause === undefined) throw parser.syntaxError();
    if (seen.has(clause))
      throw invalid(`The "${clause}" section can only be used once in an update expression`);
    seen.add(clause);
    actions.push(...parser.list(() => action(parser, clause)));
  } while (parser.next.kind !== 'end');
  return actions;
});

function action(parser: Parser, kind: (typeof CLAUSES)[number]): Action {
  const path = parser.path();
  if (kind === 'REMOVE') return { kind, path };
  if (kind !== 'SET') return { kind, path, value: parser.value() };
  parser.expectSymbol('=');
  return { kind, path, value: newValue(parser) };
}

function newValue(parser: Parser): NewValue {
  const left = operand(parser);
  const sign = (['+', '-'] as const).find((symbol) => parser.takeSymbol(symbol));
  return sign === undefined ? left : { kind: sign, left, right: operand(parser) };
}

function operand(parser: Parser): SetOperand {
  if (parser.next.kind === 'value') return { kind: 'value', value: parser.value() };
  const isCall = parser.next.kind === 'word' && parser.afterNext?.text === '(';
  return isCall ? call(parser) : { kind: 'path', path: parser.path() };
}

function call(parser: Parser): SetOperand {
  const name = parser.take().text;
  parser.expectSymbol('(');
  const result = argumentsOf(parser, name);
  parser.expectSymbol(')');
  return result;
}

function argumentsOf(parser: Parser, name: string): SetOperand {
  if (name === 'if_not_exists') {
    const path = parser.path();
    parser.expectSymbol(',');
    return { kind: name, path, otherwise: operand(parser) };
  }
  if (name !== 'list_append') throw invalid(`Invalid function name; function: ${name}`);
  const left = operand(parser);
  parser.expectSymbol(',');
  return { kind: name, left, right: operand(parser) };
}
