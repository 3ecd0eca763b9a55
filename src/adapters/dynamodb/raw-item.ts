import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** An item exactly as DynamoDB holds it. */
export type RawItem = Record<string, AttributeValue>;

/** For log lines and messages: key attributes as plain text. */
export const keyText = (item: RawItem, ...names: string[]): string =>
  names.map((name) => item[name]?.S ?? item[name]?.N ?? '?').join(' / ');
