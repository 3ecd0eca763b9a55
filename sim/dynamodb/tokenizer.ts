import { invalid } from './errors.ts';

export type TokenKind = 'word' | 'name' | 'value' | 'index' | 'symbol' | 'end';

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const TOKEN =
  /\s*(?:(?<word>[A-Za-z_][A-Za-z0-9_]*)|(?<name>#[A-Za-z0-9_]+)|(?<value>:[A-Za-z0-9_]+)|(?<index>\d+)|(?<symbol><>|<=|>=|[=<>()[\],.+-]))/y;
const END: Token = { kind: 'end', text: '<EOF>' };

/** Words of every kind of expression: attributes and keywords, `#names`, `:values`, list indexes and signs. */
export function tokens(text: string): Token[] {
  const found: Token[] = [];
  const rest = text.trimEnd();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < rest.length) {
    const at = TOKEN.lastIndex;
    const groups = TOKEN.exec(rest)?.groups;
    if (groups === undefined) throw invalid(`Invalid expression: Syntax error; near: "${rest.slice(at)}"`);
    for (const kind of ['word', 'name', 'value', 'index', 'symbol'] as const)
      if (groups[kind] !== undefined) found.push({ kind, text: groups[kind] });
  }
  return [...found, END];
}
