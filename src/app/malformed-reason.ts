import type { MalformedRowError } from '../errors.ts';

/** One word for the report, which must stay small however many rows are bad; which row it is stands in the detail. */
export const malformedReason = ({ attribute }: MalformedRowError): string => `malformed-${attribute}`;
