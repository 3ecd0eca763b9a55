import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import type { Probe } from './probes.ts';
import type { ProblemCode } from './problems.ts';
import { PROBLEMS } from './problems.ts';
import type { Route } from './route.ts';
import type { Webhook } from './webhook.ts';

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
  'internal',
];

/** A body is read before the route is looked for: also one that the route has no use for. */
const OF_A_BODY: readonly ProblemCode[] = ['malformed-body', 'body-too-large', 'unsupported-media-type'];

/** What may be wrong with its body before the signature is checked. */
const OF_A_WEBHOOK: readonly ProblemCode[] = [
  'body-too-large',
  'unsupported-media-type',
  'service-down',
  'internal',
];

/** Which caller asks a probe, and how often, is all that is looked at. */
const OF_A_PROBE: readonly ProblemCode[] = ['unauthenticated', 'too-many-requests', 'internal'];

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
export function openApiDocument(
  routes: readonly Route[],
  probes: readonly Probe[],
  webhooks: readonly Webhook[],
): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const probe of probes) paths[probe.path] = { get: probeOperation(probe) };
  for (const webhook of webhooks) paths[webhook.path] = { post: webhookOperation(webhook) };
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
    ...(body === null ? {} : { requestBody: requestBody(body) }),
    responses: { ...answers(route.answers), ...problems(problemsOf(route)) },
  };
}

/** A request without a body counts as one with an empty one. */
const requestBody = (body: z.ZodType): Json => ({
  required: !body.safeParse({}).success,
  content: json(schemaOf(body, 'input')),
});

const probeOperation = ({ path, summary, needsToken, answers: possible, contentType }: Probe): Json => ({
  tags: ['Watching'],
  summary,
  operationId: operationId({ method: 'get', path }),
  parameters: [],
  ...(needsToken ? {} : { security: [] }),
  responses: { ...answers(possible, contentType), ...(needsToken ? problems(OF_A_PROBE) : {}) },
});

const webhookOperation = ({
  path,
  summary,
  description,
  answers: possible,
  problems: own,
}: Webhook): Json => ({
  tags: ['Webhooks'],
  summary,
  description,
  operationId: operationId({ method: 'post', path }),
  parameters: [],
  security: [],
  requestBody: { required: true, content: { 'application/json': { schema: {} } } },
  responses: { ...answers(possible), ...problems([...OF_A_WEBHOOK, ...own]) },
});

/** `post-ops-quarantine-quarantine_id-replay`: stable as long as the route is. */
const operationId = ({ method, path }: Pick<Route, 'method' | 'path'>): string =>
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

const answers = (possible: Route['answers'], contentType = 'application/json'): Json =>
  Object.fromEntries(
    Object.entries(possible).map(([status, schema]) => [
      status,
      {
        description: STATUS_CODES[status] ?? status,
        content: { [contentType]: { schema: schemaOf(schema, 'output') } },
      },
    ]),
  );

/** What the server does for a route before and around it may go wrong as well. */
const problemsOf = ({ method, path, movesMoney, problems: own = [] }: Route): readonly ProblemCode[] => [
  ...EVERYWHERE,
  ...(path.includes('{') ? (['malformed-path'] as const) : []),
  ...(method === 'get' ? [] : OF_A_BODY),
  ...(movesMoney ? (['idempotency-conflict'] as const) : []),
  ...own,
];

function problems(possible: readonly ProblemCode[]): Json {
  const codes = [...new Set(possible)];
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
