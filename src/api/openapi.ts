import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import type { ProblemCode } from './problems.ts';
import { PROBLEMS } from './problems.ts';
import type { Route } from './route.ts';

type Json = Readonly<Record<string, unknown>>;

/** What OpenAPI 3.1 means where nothing else is said. */
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** Any route may answer these. */
const EVERYWHERE: readonly ProblemCode[] = [
  'invalid-request',
  'unauthenticated',
  'forbidden',
  'too-many-requests',
  'service-down',
];

const IDEMPOTENCY_KEY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'The same key with the same request gives the same answer; with another request 409.',
  schema: { type: 'string', maxLength: 200 },
};

const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.enum(Object.keys(PROBLEMS) as [ProblemCode, ...ProblemCode[]]),
  detail: z.string(),
  request_id: z.string(),
  errors: z
    .array(
      z.object({ in: z.enum(['path', 'query', 'body', 'header']), field: z.string(), message: z.string() }),
    )
    .optional(),
});

/** The OpenAPI 3.1 document, from the same schemas that check what goes in and out. */
export function openApiDocument(routes: readonly Route[]): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method] = operation(route);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Collections pipeline',
      version: '1',
      description:
        'Subscriptions, payments by hand, signals and operations. Errors are problem documents with a stable `code`.',
    },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: schemaOf(problem, 'output') },
    },
  };
}

function operation(route: Route): Json {
  const { tag, summary, description, role, body } = route;
  return {
    tags: [tag],
    summary,
    description: [description, `Role: \`${role}\`.`].filter((text) => text !== undefined).join('\n\n'),
    operationId: operationId(route),
    parameters: [
      ...parameters(route.params, 'path'),
      ...parameters(route.query, 'query'),
      ...(route.movesMoney ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(body === null ? {} : { requestBody: { required: true, content: json(schemaOf(body, 'input')) } }),
    responses: { ...answers(route), ...problems(route) },
  };
}

/** `post-ops-quarantine-quarantine_id-replay`: stable as long as the route is. */
const operationId = ({ method, path }: Route): string =>
  `${method}${path.replaceAll(/[{}]/g, '').replaceAll('/', '-')}`;

function parameters(schema: z.ZodType, place: 'path' | 'query'): Json[] {
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema: property,
  }));
}

const answers = (route: Route): Json =>
  Object.fromEntries(
    Object.entries(route.answers).map(([status, schema]) => [
      status,
      { description: STATUS_CODES[status] ?? status, content: json(schemaOf(schema, 'output')) },
    ]),
  );

function problems(route: Route): Json {
  const codes = [...new Set([...EVERYWHERE, ...(route.problems ?? [])])];
  const statuses = [...new Set(codes.map((code) => PROBLEMS[code].status))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: codes
          .filter((code) => PROBLEMS[code].status === status)
          .map((code) => `\`${code}\`: ${PROBLEMS[code].title}`)
          .join('\n\n'),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  );
}

const json = (schema: Json): Json => ({ 'application/json': { schema } });

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  if (dialect !== DIALECT) throw new Error(`OpenAPI 3.1 speaks ${DIALECT}, zod wrote ${dialect}`);
  return rest;
}
