import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { RecordChange, StoredRecord } from '../../domain/change-event.ts';
import type { RawItem } from './raw-item.ts';
import type { TableChange } from './table-stream-source.ts';

/*
 * Rows as JSON can say them. Never throws, unlike `unmarshall`: one odd attribute that a row of the Go service may carry
 * must not hold up whatever comes after it.
 */

export const plainChange = ({ oldImage, newImage }: TableChange): RecordChange => ({
  before: oldImage === null ? null : plainRow(oldImage),
  after: newImage === null ? null : plainRow(newImage),
});

export const plainRow = (item: RawItem): StoredRecord =>
  Object.fromEntries(Object.entries(item).map(([name, value]) => [name, plainValue(value)]));

function plainValue(value: AttributeValue): unknown {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return plainNumber(value.N);
  if (value.BOOL !== undefined) return value.BOOL;
  if (value.B !== undefined) return base64(value.B);
  if (value.M !== undefined) return plainRow(value.M);
  if (value.L !== undefined) return value.L.map(plainValue);
  if (value.SS !== undefined) return value.SS;
  if (value.NS !== undefined) return value.NS.map(plainNumber);
  if (value.BS !== undefined) return value.BS.map(base64);
  return null;
}

/** DynamoDB's numbers have 38 digits. What a double would round stays text. */
const plainNumber = (text: string): number | string => (String(Number(text)) === text ? Number(text) : text);

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
