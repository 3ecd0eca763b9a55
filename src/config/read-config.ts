import type { z } from 'zod';
import { ConfigurationError } from '../errors.ts';
import { allowedInWords } from '../in-words.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

type Sections = Readonly<Record<string, z.ZodType>>;

/** An empty variable counts as not set, as compose files and shells write it. */
export const onlySet = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''));

/**
 * Reads the sections that a process needs, all at once: every bad value is named in one message, so that nobody mends
 * them one restart at a time.
 */
export function readConfig<S extends Sections>(
  environment: Environment,
  sections: S,
): { readonly [K in keyof S]: z.output<S[K]> } {
  const set = onlySet(environment);
  const problems: string[] = [];
  const values = Object.entries(sections).map(([section, schema]) => {
    const result = schema.safeParse(set, { error: allowedInWords });
    if (result.success) return [section, result.data];
    problems.push(...result.error.issues.map((issue) => describe(issue, set)));
    return [section, undefined];
  });
  if (problems.length > 0)
    throw new ConfigurationError(`bad configuration:\n  ${[...new Set(problems)].join('\n  ')}`);
  return Object.fromEntries(values) as { [K in keyof S]: z.output<S[K]> };
}

/** Never the value itself where it may be a secret: names and what is allowed are enough. */
function describe(issue: z.core.$ZodIssue, set: Environment): string {
  const variable = String(issue.path[0] ?? '?');
  if (set[variable] === undefined) return `${variable} is not set; it must be ${issue.message}`;
  const shown = /TOKEN|SECRET|URL/.test(variable) ? '' : ` is ${JSON.stringify(set[variable])};`;
  return `${variable}${shown} must be ${issue.message}`;
}
