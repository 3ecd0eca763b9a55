import type { z } from 'zod';
import { Problem, type FieldError } from '../problem.ts';

function fieldErrors(issue: z.core.$ZodIssue, root: string): FieldError[] {
  const path = issue.path.map(String);
  const named = (extra: string[]) => [...path, ...extra].join('.').slice(0, 200) || root;
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ field: named([key]), message: 'is not known' }));
  }
  return [{ field: named([]), message: issue.message }];
}

/** The value as the schema reads it, or a 400 that names each field that is wrong. */
export function checked<S extends z.ZodType>(schema: S, value: unknown, root = 'body'): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = result.error.issues.flatMap((issue) => fieldErrors(issue, root)).slice(0, 20);
  const detail = errors.map(({ field, message }) => `${field}: ${message}`).join('; ');
  throw new Problem(400, 'invalid_request', detail, errors);
}
