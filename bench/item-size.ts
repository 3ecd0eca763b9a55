import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** An item as it goes over the wire: bytes are text there. */
export type WireItem = Readonly<Record<string, AttributeValue>>;

/** Lists and maps cost this much themselves, and one byte more for each of what they hold. */
const HOLDER_BYTES = 3;

/** What DynamoDB takes an item for: names and values. Without the 100 bytes that storing it adds. */
export const itemBytes = (item: WireItem): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + textBytes(name) + valueBytes(value), 0);

function valueBytes(value: AttributeValue): number {
  if (value.S !== undefined) return textBytes(value.S);
  if (value.N !== undefined) return numberBytes(value.N);
  if (value.B !== undefined) return Buffer.from(value.B as unknown as string, 'base64').length;
  if (value.M !== undefined) return HOLDER_BYTES + itemBytes(value.M) + Object.keys(value.M).length;
  if (value.L !== undefined) return HOLDER_BYTES + value.L.reduce((sum, one) => sum + valueBytes(one) + 1, 0);
  if (value.BOOL !== undefined || value.NULL !== undefined) return 1;
  throw new Error(`no item of the pipeline has a ${Object.keys(value).join()}`);
}

const textBytes = (text: string): number => Buffer.byteLength(text, 'utf8');

/** A byte for two digits, and one more; zeros at either end are not kept. */
function numberBytes(number: string): number {
  const digits = number.replace(/[-.]/g, '').replace(/^0+|0+$/g, '');
  return Math.ceil(digits.length / 2) + 1;
}
