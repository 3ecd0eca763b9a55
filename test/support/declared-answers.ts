import { z } from 'zod';
import { PROBLEMS } from '../../src/api/problems.ts';
import type { ProblemCode } from '../../src/api/problems.ts';
import type { Reply } from './api.ts';

type JsonSchema = Parameters<typeof z.fromJSONSchema>[0];

interface Documented {
  readonly description: string;
  readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Documented>> }>>>
  >;
  readonly components: { readonly schemas: { readonly Problem: JsonSchema } };
}

/** One thing that an operation may answer, as its documentation says. */
export interface DeclaredAnswer {
  /** `POST /ops/batch`. */
  readonly operation: string;
  /** A status such as `202`, or the code of a problem. */
  readonly answer: string;
  readonly status: number;
  readonly contentType: string;
  /** What is wrong with a reply's body; empty when it is as documented. */
  misfit(reply: Reply): string;
}

/** What the server does for every route alike, in front of it and around it. */
const OF_ANY_ROUTE: ReadonlySet<string> = new Set<ProblemCode>([
  'unauthenticated',
  'forbidden',
  'malformed-body',
  'malformed-path',
  'body-too-large',
  'unsupported-media-type',
  'too-many-requests',
  'internal',
  'service-down',
  'invalid-request',
  'idempotency-conflict',
]);

const PROBLEM_TYPE = 'application/problem+json';

/** Everything that the OpenAPI document promises, operation by operation, but for what any route may answer. */
export function declaredAnswers(body: unknown): DeclaredAnswer[] {
  const { paths, components } = body as Document;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) =>
      Object.entries(responses).flatMap(([status, { description, content }]) =>
        Object.entries(content).flatMap(([contentType, { schema }]) => {
          const isProblem = contentType === PROBLEM_TYPE;
          const answers = isProblem ? ownCodesIn(description) : [status];
          const misfit = misfitTo(isProblem ? components.schemas.Problem : schema);
          const operation = `${method.toUpperCase()} ${path}`;
          return answers.map((answer) => ({
            operation,
            answer,
            status: Number(status),
            contentType,
            misfit,
          }));
        }),
      ),
    ),
  );
}

const ownCodesIn = (description: string): string[] =>
  [...description.matchAll(/^`([\w-]+)`:/gm)]
    .map(([, code = '']) => code)
    .filter((code) => !OF_ANY_ROUTE.has(code));

const misfitTo =
  (schema: JsonSchema): DeclaredAnswer['misfit'] =>
  ({ body }) => {
    const { error } = z.fromJSONSchema(schema).safeParse(body);
    return error === undefined ? '' : z.prettifyError(error);
  };

export const isProblemCode = (answer: string): answer is ProblemCode => Object.hasOwn(PROBLEMS, answer);
