import type { AttributeDefinition, KeySchemaElement } from '@aws-sdk/client-dynamodb';
import type { RawItem, Value } from './attribute-value.ts';
import { attributeOf, sortable, typeOf } from './attribute-value.ts';
import { invalid } from './errors.ts';
import { valueBytes } from './item-size.ts';

export interface KeyAttribute {
  readonly name: string;
  readonly type: 'S' | 'N' | 'B';
  readonly maxBytes: number;
}

/** Which attributes place an item, and of which type they are. */
export interface KeySchema {
  readonly partition: KeyAttribute;
  readonly sort: KeyAttribute | null;
  readonly attributes: readonly KeyAttribute[];
}

/** Where an item is, as texts that sort as the key values do. */
export interface Key {
  readonly partition: string;
  readonly sort: string;
}

const MAX_PARTITION_KEY_BYTES = 2_048;
const MAX_SORT_KEY_BYTES = 1_024;

export function keySchema(
  elements: readonly KeySchemaElement[] | undefined,
  definitions: readonly AttributeDefinition[] | undefined,
): KeySchema {
  const attribute = (keyType: 'HASH' | 'RANGE', maxBytes: number): KeyAttribute | null => {
    const name = elements?.find(({ KeyType }) => KeyType === keyType)?.AttributeName;
    if (name === undefined) return null;
    const type = definitions?.find(({ AttributeName }) => AttributeName === name)?.AttributeType;
    if (type === undefined)
      throw invalid(`Some index key attributes are not defined in AttributeDefinitions: ${name}`);
    return { name, type, maxBytes };
  };
  const partition = attribute('HASH', MAX_PARTITION_KEY_BYTES);
  if (partition === null) throw invalid('No Hash Key specified in schema');
  const sort = attribute('RANGE', MAX_SORT_KEY_BYTES);
  return { partition, sort, attributes: sort === null ? [partition] : [partition, sort] };
}

/** The key of an item that must have one. */
export function keyOf(schema: KeySchema, item: RawItem): Key {
  return {
    partition: keyText(item, schema.partition),
    sort: schema.sort === null ? '' : keyText(item, schema.sort),
  };
}

/** The key in a request that names an item: these attributes and no others. */
export function keyAlone(schema: KeySchema, item: RawItem): Key {
  if (Object.keys(item).length !== schema.attributes.length)
    throw invalid('The provided key element does not match the schema');
  return keyOf(schema, item);
}

function keyText(item: RawItem, attribute: KeyAttribute): string {
  const value = attributeOf(item, attribute.name);
  if (value === undefined)
    throw invalid(`One or more parameter values were invalid: Missing the key ${attribute.name} in the item`);
  checkKeyValue(value, attribute);
  return sortable(value);
}

/** A value that stands, or would stand, in a key. */
export function checkKeyValue(value: Value, { name, type, maxBytes }: KeyAttribute): void {
  if (typeOf(value) !== type)
    throw invalid(
      `One or more parameter values were invalid: Type mismatch for key ${name} expected: ${type} actual: ${typeOf(value)}`,
    );
  const text = value.S ?? value.N;
  const bytes = text !== undefined && text.length * 3 < maxBytes ? text.length : valueBytes(value);
  if (bytes === 0)
    throw invalid(
      `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty value. Key: ${name}`,
    );
  if (bytes > maxBytes)
    throw invalid(
      `One or more parameter values were invalid: Size of the key ${name} exceeds ${maxBytes} bytes`,
    );
}

export const keyAttributesOf = (schema: KeySchema, item: RawItem): Record<string, Value> =>
  Object.fromEntries(schema.attributes.map(({ name }) => [name, item[name] as Value]));
