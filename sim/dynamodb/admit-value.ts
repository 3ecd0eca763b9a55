import type { RawItem, Value, ValueType } from './attribute-value.ts';
import { TYPES, elementsOf, includes, isSet } from './attribute-value.ts';
import { canonicalNumber } from './decimal.ts';
import { invalid } from './errors.ts';

const MAX_DEPTH = 32;

/**
 * A copy that cannot be changed, with numbers in their one way of writing. What came from the store is frozen already
 * and is not copied again; bytes cannot be frozen, see `withOwnBytes`.
 */
export function admitItem(item: RawItem, depth = 0): RawItem {
  const admitted: Record<string, Value> = {};
  for (const name of Object.keys(item)) {
    const value = item[name];
    if (value !== undefined) admitted[name] = admit(value, depth);
  }
  return Object.freeze(admitted);
}

export function admit(value: Value, depth = 0): Value {
  if (value.S !== undefined && hasOneType(value))
    return Object.isFrozen(value) ? value : Object.freeze({ S: value.S });
  if (depth > MAX_DEPTH)
    throw invalid('Nesting Levels have exceeded supported limits: Attributes have nested levels beyond 32');
  return Object.freeze(copied(value, soleTypeOf(value), depth));
}

function hasOneType(value: Value): boolean {
  let types = 0;
  for (const type in value) if (value[type as keyof Value] !== undefined) types += 1;
  return types === 1;
}

function soleTypeOf(value: Value): ValueType {
  const types = TYPES.filter((type) => value[type as keyof Value] !== undefined);
  if (types.length === 0)
    throw invalid('Supplied AttributeValue is empty, must contain exactly one of the supported datatypes');
  if (types.length > 1)
    throw invalid(
      'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
    );
  return types[0] as ValueType;
}

function copied(value: Value, type: ValueType, depth: number): Value {
  if (isSet(type)) return setCopied(value, type);
  if (value.N !== undefined) return { N: canonicalNumber(value.N) };
  if (value.M !== undefined) return { M: admitItem(value.M, depth + 1) };
  if (value.L !== undefined)
    return { L: Object.freeze(value.L.map((element) => admit(element, depth + 1))) as Value[] };
  if (value.B !== undefined) return { B: Uint8Array.from(value.B) };
  if (value.NULL === false)
    throw invalid(
      'One or more parameter values were invalid: Null attribute value types must have the value of true',
    );
  return { ...value };
}

function setCopied(value: Value, type: ValueType): Value {
  const copy: Value =
    value.NS !== undefined
      ? { NS: value.NS.map(canonicalNumber) }
      : value.SS !== undefined
        ? { SS: [...value.SS] }
        : { BS: (value.BS ?? []).map((bytes) => Uint8Array.from(bytes)) };
  const elements = elementsOf(copy);
  if (elements.length === 0)
    throw invalid(`One or more parameter values were invalid: An ${type} set may not be empty`);
  if (elements.some((element, i) => includes(elements.slice(0, i), element)))
    throw invalid('One or more parameter values were invalid: Input collection contains duplicates.');
  Object.freeze(copy.SS ?? copy.NS ?? copy.BS);
  return copy;
}

/** For callers that take an item out: the one kind of value that cannot be frozen is copied again. */
export function withOwnBytes(item: RawItem): RawItem {
  if (!Object.values(item).some(holdsBytes)) return item;
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, ownBytes(value)]));
}

function holdsBytes(value: Value): boolean {
  if (value.S !== undefined || value.N !== undefined) return false;
  if (value.M !== undefined) return Object.values(value.M).some(holdsBytes);
  if (value.L !== undefined) return value.L.some(holdsBytes);
  return value.B !== undefined || value.BS !== undefined;
}

function ownBytes(value: Value): Value {
  if (value.B !== undefined) return { B: Uint8Array.from(value.B) };
  if (value.BS !== undefined) return { BS: value.BS.map((bytes) => Uint8Array.from(bytes)) };
  if (value.L !== undefined) return { L: value.L.map(ownBytes) };
  if (value.M !== undefined) return { M: withOwnBytes(value.M) };
  return value;
}
