import { invalid } from './errors.ts';
import type { Parsed, Path } from './expression.ts';
import { tokens, type Token, type TokenKind } from './tokenizer.ts';

/** What all kinds of expressions have in common: a place in the text, paths, and a note of what the request must bring. */
export class Parser {
  readonly attributes = new Set<string>();
  readonly names = new Set<string>();
  readonly values = new Set<string>();
  private readonly tokens: readonly Token[];
  private at = 0;

  constructor(text: string) {
    this.tokens = tokens(text);
  }

  get next(): Token {
    return this.tokens[this.at] as Token;
  }

  get afterNext(): Token | undefined {
    return this.tokens[this.at + 1];
  }

  take(): Token {
    const token = this.next;
    this.at += 1;
    return token;
  }

  /** Keywords are known in capitals and in small letters. */
  takeKeyword(keyword: string): boolean {
    const isNext = this.next.kind === 'word' && this.next.text.toUpperCase() === keyword;
    if (isNext) this.at += 1;
    return isNext;
  }

  takeSymbol(symbol: string): boolean {
    const isNext = this.next.kind === 'symbol' && this.next.text === symbol;
    if (isNext) this.at += 1;
    return isNext;
  }

  expectSymbol(symbol: string): void {
    if (!this.takeSymbol(symbol)) throw this.syntaxError();
  }

  expect(kind: TokenKind): string {
    if (this.next.kind !== kind) throw this.syntaxError();
    return this.take().text;
  }

  path(): Path {
    const attribute = this.step();
    this.attributes.add(attribute);
    const path: (string | number)[] = [attribute];
    for (;;) {
      if (this.takeSymbol('.')) path.push(this.step());
      else if (this.takeSymbol('[')) {
        path.push(Number(this.expect('index')));
        this.expectSymbol(']');
      } else return path;
    }
  }

  value(): string {
    const value = this.expect('value');
    this.values.add(value);
    return value;
  }

  /** One or more, with commas between them. */
  list<T>(element: () => T): T[] {
    const elements = [element()];
    while (this.takeSymbol(',')) elements.push(element());
    return elements;
  }

  syntaxError(): Error {
    return invalid(`Invalid expression: Syntax error; token: "${this.next.text}"`);
  }

  private step(): string {
    if (this.next.kind === 'word') return this.take().text;
    const name = this.expect('name');
    this.names.add(name);
    return name;
  }
}

const MOST_REMEMBERED = 2_000;

/** The same few texts come again and again; what was said is remembered for the most recent of them. */
export function parserOf<T>(parse: (parser: Parser) => T): (text: string) => Parsed<T> {
  const remembered = new Map<string, Parsed<T>>();
  return (text) => {
    const known = remembered.get(text);
    if (known !== undefined) return known;
    const parser = new Parser(text);
    const meaning = parse(parser);
    if (parser.next.kind !== 'end') throw parser.syntaxError();
    const { attributes, names, values } = parser;
    const parsed = { meaning, attributes, names, values };
    if (remembered.size >= MOST_REMEMBERED) remembered.clear();
    remembered.set(text, parsed);
    return parsed;
  };
}
