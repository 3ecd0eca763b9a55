import { admit } from './admit-value.ts';
import type { RawItem, Value } from './attribute-value.ts';
import { attributeOf } from './attribute-value.ts';
import { invalid } from './errors.ts';
import type { Parsed, Path } from './expression.ts';

/** What a request brings along for its expressions. */
export interface Bindings {
  readonly names: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, Value>>;
}

export interface RequestBindings {
  readonly ExpressionAttributeNames?: Record<string, string> | undefined;
  readonly ExpressionAttributeValues?: Record<string, Value> | undefined;
}

const NONE: Bindings = { names: {}, values: {} };

/** Each name and value that is used is there, and each that is there is used, as DynamoDB insists. */
export function bind(request: RequestBindings, ...expressions: (Parsed<unknown> | null)[]): Bindings {
  const { ExpressionAttributeNames: names, ExpressionAttributeValues: values } = request;
  const used = expressions.filter((expression) => expression !== null);
  if (names !== undefined)
    refuseUnused(
      'Names',
      names,
      used.map((expression) => expression.names),
    );
  if (values !== undefined)
    refuseUnused(
      'Values',
      values,
      used.map((expression) => expression.values),
    );
  for (const expression of used) {
    refuseUndefined('name', expression.names, names);
    refuseUndefined('value', expression.values, values);
  }
  if (names === undefined && values === undefined) return NONE;
  return { names: names ?? NONE.names, values: values === undefined ? NONE.values : admitAll(values) };
}

function admitAll(values: RawItem): Readonly<Record<string, Value>> {
  const admitted: Record<string, Value> = {};
  for (const name of Object.keys(values)) admitted[name] = admit(values[name] as Value);
  return admitted;
}

function refuseUnused(
  kind: 'Names' | 'Values',
  given: Readonly<Record<string, unknown>>,
  used: readonly ReadonlySet<string>[],
): void {
  const keys = Object.keys(given);
  if (keys.length === 0) throw invalid(`ExpressionAttribute${kind} must not be empty`);
  if (used.length === 0)
    throw invalid(`ExpressionAttribute${kind} can only be specified when using expressions`);
  for (const key of keys)
    if (!used.some((names) => names.has(key)))
      throw invalid(`Value provided in ExpressionAttribute${kind} unused in expressions: keys: {${key}}`);
}

function refuseUndefined(
  kind: 'name' | 'value',
  used: ReadonlySet<string>,
  given: Readonly<Record<string, unknown>> | undefined,
): void {
  for (const key of used)
    if (given?.[key] === undefined)
      throw invalid(`An expression attribute ${kind} used in expression is not defined: ${key}`);
}

export const boundValue = ({ values }: Bindings, name: string): Value => values[name] as Value;

export const boundName = ({ names }: Bindings, step: string): string =>
  step.startsWith('#') ? (names[step] as string) : step;

/** The path with its `#names` put in. */
export const boundPath = (bindings: Bindings, path: Path): Path =>
  path.map((step) => (typeof step === 'number' ? step : boundName(bindings, step)));

/** What stands at a path; undefined when nothing does. */
export function valueAt(item: RawItem, path: Path, bindings: Bindings): Value | undefined {
  let value: Value | undefined = attributeOf(item, boundName(bindings, path[0] as string));
  for (let i = 1; i < path.length && value !== undefined; i += 1) {
    const step = path[i] as string | number;
    if (typeof step === 'number') value = value.L?.[step];
    else value = value.M === undefined ? undefined : attributeOf(value.M, boundName(bindings, step));
  }
  return value;
}
