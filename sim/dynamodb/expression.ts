/** `a.#b[0]` is ['a', '#b', 0]: a text with `#` stands for a name that comes with the request. */
export type Path = readonly (string | number)[];

export type Operand =
  | { readonly kind: 'path'; readonly path: Path }
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'size'; readonly path: Path };

export type Comparator = '=' | '<>' | '<' | '<=' | '>' | '>=';

export type Condition =
  | { readonly kind: 'and' | 'or'; readonly left: Condition; readonly right: Condition }
  | { readonly kind: 'not'; readonly condition: Condition }
  | {
      readonly kind: 'compare';
      readonly comparator: Comparator;
      readonly left: Operand;
      readonly right: Operand;
    }
  | {
      readonly kind: 'between';
      readonly operand: Operand;
      readonly lower: Operand;
      readonly upper: Operand;
    }
  | { readonly kind: 'in'; readonly operand: Operand; readonly choices: readonly Operand[] }
  | { readonly kind: 'attribute_exists' | 'attribute_not_exists'; readonly path: Path }
  | {
      readonly kind: 'attribute_type' | 'begins_with' | 'contains';
      readonly path: Path;
      readonly operand: Operand;
    };

export type SetOperand =
  | Exclude<Operand, { kind: 'size' }>
  | { readonly kind: 'if_not_exists'; readonly path: Path; readonly otherwise: SetOperand }
  | { readonly kind: 'list_append'; readonly left: SetOperand; readonly right: SetOperand };

export type NewValue =
  SetOperand | { readonly kind: '+' | '-'; readonly left: SetOperand; readonly right: SetOperand };

export type Action =
  | { readonly kind: 'SET'; readonly path: Path; readonly value: NewValue }
  | { readonly kind: 'REMOVE'; readonly path: Path }
  | { readonly kind: 'ADD' | 'DELETE'; readonly path: Path; readonly value: string };

/** What an expression says, and the `#names` and `:values` that it needs from its request. */
export interface Parsed<T> {
  readonly meaning: T;
  /** The attributes that it speaks of, each by its name or its `#name`. */
  readonly attributes: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  readonly values: ReadonlySet<string>;
}
