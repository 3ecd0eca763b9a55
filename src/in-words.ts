import type { z } from 'zod';

/** What came, as the schema reads it; or what is wrong with it: each field by its name, never its value; and the first of these fields. */
export function readBy<T>(
  schema: z.ZodType<T>,
  value: unknown,
): { readonly data: T } | { readonly wrong: string; readonly first: string } {
  const { success, data, error } = schema.safeParse(value, { error: wrongInWords });
  if (success) return { data };
  return {
    wrong: error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '),
    first: error.issues[0]?.path.join('.') ?? '',
  };
}

/** What a schema allows, in words, where it has none of its own. Goes with `safeParse(…, { error: allowedInWords })`. */
export function allowedInWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return kind(issue.expected);
    case 'invalid_value':
      return issue.values.length === 1 ? String(issue.values[0]) : `one of ${issue.values.join(', ')}`;
    case 'too_small':
      return `at least ${measured(issue.minimum, issue.origin)}`;
    case 'too_big':
      return `at most ${measured(issue.maximum, issue.origin)}`;
    default:
      return undefined;
  }
}

/** The same, and that a field is not there. */
export function wrongInWords(issue: z.core.$ZodRawIssue): string | undefined {
  const allowed = allowedInWords(issue);
  return allowed !== undefined && issue.input === undefined ? `${allowed}, which is missing` : allowed;
}

function kind(expected: string): string {
  if (expected === 'int') return 'a whole number';
  return `${/^[ao]/.test(expected) ? 'an' : 'a'} ${expected}`;
}

function measured(bound: number | bigint, of: string): string {
  if (of === 'string') return `${bound} characters`;
  return of === 'array' ? `${bound} items` : String(bound);
}
