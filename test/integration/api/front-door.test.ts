import { once } from 'node:events';
import { request } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROBLEMS } from '../../../src/api/problems.ts';
import type { ApiClient } from '../../support/api.ts';
import { API_TOKENS, TOKENS, api, isReady } from '../../support/api.ts';
import { billingStore } from '../../support/billing-store.ts';
import type { BillingStore } from '../../support/billing-store.ts';
import { gatewayTable } from '../../support/gateway-table.ts';
import { eventually } from '../../support/processes.ts';
import type { PrivateRedis } from '../../support/redis-server.ts';
import { privateRedis } from '../../support/redis-server.ts';
import type { RunningSandbox } from '../../support/sandbox.ts';
import { startSandbox } from '../../support/sandbox.ts';
import { sharedStack } from '../../support/stack.ts';

let store: BillingStore;
let redis: PrivateRedis;
/** Garbage is now and then a fair request, and then the services are asked: about nobody they know. */
let bank: RunningSandbox;
let gateways: Awaited<ReturnType<typeof gatewayTable>>;
let client: ApiClient;
let environment: Record<string, string>;
const lines: { fields: object; message: string }[] = [];

beforeAll(async () => {
  [store, redis, bank] = await Promise.all([
    billingStore({ withFloats: true, withRecurring: true }),
    privateRedis(),
    startSandbox(),
  ]);
  gateways = await gatewayTable();
  const { tables } = store;
  const { url } = bank;
  environment = {
    REDIS_URL: redis.url,
    AWS_ENDPOINT_URL_DYNAMODB: sharedStack().dynamodbUrl,
    BILLING_TABLE: tables.billing,
    HISTORY_TABLE: tables.history,
    LOCKS_TABLE: tables.locks,
    PIPELINE_TABLE: tables.pipeline,
    DYNAMO_TABLE: tables.floats,
    COLLECTION_HISTORY_TABLE: tables.collectionHistory,
    BYPASS_TABLE: tables.bypass,
    RECURRING_TABLE: tables.recurring,
    USER_SERVICE_URL: url,
    TXN_SERVICE_URL: url,
    PAYMENTS_SERVICE_URL: url,
    NOTIFICATIONS_URL: url,
    GATEWAY_TABLE: gateways.name,
    API_RATE_PER_MINUTE: '100000',
  };
  const note = (fields: object, message: string): void => void lines.push({ fields, message });
  const log = { debug: note, info: note, warn: note, error: note, child: () => log };
  client = await api(environment, log);
});
afterAll(async () => {
  await client.close();
  await redis.stop();
  await bank.stop();
  await gateways.drop();
  await store.drop();
});

/** As much of JSON Schema as the document uses. */
interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly examples?: readonly unknown[];
}

interface Operation {
  readonly tags: readonly string[];
  readonly security?: readonly object[];
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly description: string;
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: { readonly 'application/json': { readonly schema: Schema } };
  };
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const document = async (): Promise<Document> =>
  (await client.call('GET', '/openapi.json', { as: null })).body as Document;

/** What watches the process is no route, and who posts to a webhook has no token: see gateways/webhooks.test.ts. */
const NO_ROUTES = ['Watching', 'Webhooks'];
const operations = async () =>
  (await documented()).filter(({ operation }) => !operation.tags.some((tag) => NO_ROUTES.includes(tag)));

const documented = async () => {
  const { paths } = await document();
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
};

describe('the documentation', () => {
  const codesOf = ({ responses }: Operation, status: number): string => responses[status]?.description ?? '';

  it('says what may go wrong with a body, a key and a path wherever there is one', async () => {
    for (const { path, method, operation } of await operations()) {
      const hasBody = method !== 'GET';
      const hasKey = operation.parameters.some(({ name }) => name === 'Idempotency-Key');
      const said = {
        body: [413, 415].map((status) => codesOf(operation, status) !== ''),
        unreadable: codesOf(operation, 400).includes('`malformed-body`'),
        key: codesOf(operation, 409).includes('`idempotency-conflict`'),
        path: codesOf(operation, 400).includes('`malformed-path`'),
      };
      expect(said, `${method} ${path}`).toEqual({
        body: [hasBody, hasBody],
        unreadable: hasBody,
        key: hasKey,
        path: path.includes('{'),
      });
    }
    const { paths } = await document();
    expect(codesOf(paths['/ops/batch']!['post']!, 409)).toContain('idempotency-conflict');
  });

  it('says which routes need a body', async () => {
    const withBody = (await operations()).filter(({ operation }) => operation.requestBody !== undefined);
    const needed = withBody.filter(({ operation }) => operation.requestBody?.required);
    expect(needed.length).toBeGreaterThan(0);
    expect(needed.length).toBeLessThan(withBody.length);
    for (const { path, method, operation } of withBody) {
      const { body } = await client.call(method, filled(path));
      const isRefused = (body as { code: string }).code === 'invalid-request';
      expect(isRefused, `${method} ${path}`).toBe(operation.requestBody?.required);
    }
  });

  it('has what watches the process, as it answers', async () => {
    const watched = (await documented()).filter(({ operation }) => operation.tags.includes('Watching'));
    expect(watched.map(({ path }) => path)).toEqual(['/health/live', '/health/ready', '/metrics']);
    for (const { path, operation } of watched) {
      const isOpen = operation.security?.length === 0;
      expect((await client.call('GET', path, { as: null })).status, path).toBe(isOpen ? 200 : 401);
      const { status, headers } = await client.call('GET', path, { as: 'viewer' });
      const { content } = operation.responses[status] as unknown as { content: object };
      expect(headers.get('content-type'), path).toContain(Object.keys(content)[0]);
    }
  });
});

/** With something in every place of the path. */
const filled = (path: string): string => path.replaceAll(/\{\w+\}/g, 'x');

describe('every route', () => {
  it('wants a token that somebody was given', async () => {
    for (const { path, method } of await operations()) {
      for (const headers of [
        {},
        { authorization: 'Bearer not-a-token-of-ours' },
        { authorization: `Basic ${TOKENS.operator}` },
        { authorization: 'Bearer' },
      ]) {
        const reply = await client.call(method, filled(path), { as: null, headers });
        expect(reply.status, `${method} ${path}`).toBe(401);
        expect(reply.body).toMatchObject({ code: 'unauthenticated' });
      }
    }
  });

  it('refuses who may too little, before it reads what was sent', async () => {
    for (const { path, method, operation } of await operations()) {
      const [, role] = /Role: `(\w+)`/.exec(operation.description)!;
      const weaker = { viewer: [], service: ['viewer'], operator: ['viewer', 'service'] }[role!]! as (
        'viewer' | 'service'
      )[];
      for (const as of weaker) {
        const reply = await client.call(method, filled(path), { as, body: { nonsense: true } });
        expect(reply.status, `${as} ${method} ${path}`).toBe(403);
        expect(reply.body).toMatchObject({ code: 'forbidden' });
      }
    }
  });

  it('lets services read, pay and tell what happened, and change nothing else', async () => {
    const changes = (await operations()).filter(
      ({ method, operation }) => method !== 'GET' && /Role: `(viewer|service)`/.test(operation.description),
    );
    expect(changes.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      'POST /events/balance',
      'POST /events/income',
      'POST /v1/{user_id}/floats/{float_id}/payback',
      'POST /v1/{user_id}/subscriptions/{subscription_id}/pay',
    ]);
  });

  it('names the field that it does not know', async () => {
    for (const { path, method } of (await operations()).filter(({ operation }) => operation.requestBody)) {
      const reply = await client.call(method, filled(path), { body: { surprise: 1 } });
      expect(reply.status, `${method} ${path}`).toBe(400);
      expect(JSON.stringify(reply.body)).toContain('surprise');
    }
    for (const { path, method } of (await operations()).filter((each) => each.method === 'GET')) {
      const reply = await client.call(method, `${filled(path)}?surprise=1`);
      expect(reply.status, `${method} ${path}`).toBe(400);
      const { code, errors } = reply.body as { code: string; errors: object[] };
      expect(code).toBe('invalid-request');
      expect(errors).toContainEqual({
        in: 'query',
        field: 'surprise',
        message: 'not a field of this request',
      });
    }
  });

  it('says of a field that is not there that it is missing, and what it would be', async () => {
    const { status, body } = await client.call('POST', '/events/income', { body: { data: 'text' } });
    expect(status).toBe(400);
    expect((body as { errors: object[] }).errors).toEqual(
      expect.arrayContaining([
        { in: 'body', field: 'id', message: 'a string, which is missing' },
        { in: 'body', field: 'data', message: 'an object' },
      ]),
    );
  });

  it('survives garbage in every place: never a 5xx, never a stack', async () => {
    const all = await operations();
    const text = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc.constantFrom(
        '..',
        '.',
        '\0',
        '\n',
        '%',
        '%00',
        '😀',
        '\u202e',
        "' OR 1=1",
        '<script>',
        '__proto__',
        '{}',
      ),
    );
    const value = fc.oneof(text, fc.jsonValue({ maxDepth: 2 }));
    const garbage = fc.constantFrom(...all).chain((operation) =>
      fc.record({
        operation: fc.constant(operation),
        places: fc.array(text, { minLength: 4, maxLength: 4 }),
        query: fc.dictionary(oneOf(queryFields(operation), text), text, { maxKeys: 3 }),
        body: fc.oneof(value, fc.dictionary(oneOf(bodyFields(operation), text), value, { maxKeys: 6 })),
      }),
    );
    await fc.assert(
      fc.asyncProperty(garbage, async ({ operation: { path, method }, places, query, body }) => {
        let place = 0;
        const url = path.replaceAll(
          /\{\w+\}/g,
          () => encodeURIComponent(wellFormed(places[place++ % 4]!)) || 'x',
        );
        const search = new URLSearchParams(
          Object.entries(query).map(([key, each]): [string, string] => [wellFormed(key), wellFormed(each)]),
        );
        const reply = await client.call(
          method,
          `${url}?${search.toString()}`,
          method === 'GET' ? {} : { body: body ?? 'null' },
        );
        expect(reply.status, `${method} ${url} ${JSON.stringify(body)}`).toBeLessThan(500);
        expect(JSON.stringify(reply.body)).not.toMatch(/\bat .*\.(ts|js):\d+/);
        if (reply.status >= 400) {
          expect(reply.headers.get('content-type')).toContain('application/problem+json');
          expect(Object.keys(PROBLEMS)).toContain((reply.body as { code: string }).code);
        }
      }),
      { numRuns: 400 },
    );
  });

  it('survives one bad value among good ones, in every field of a body and of a query', async () => {
    const fields = (await operations()).flatMap((listed) => [
      ...leavesOf(bodySchema(listed)).map((at) => ({ listed, place: 'body' as const, at })),
      ...queryFields(listed).map((name) => ({ listed, place: 'query' as const, at: [name] })),
    ]);
    expect(fields.map(({ at }) => at.join('.'))).toEqual(
      expect.arrayContaining(['data.amount', 'billing_date', 'as_of', 'until', 'wait', 'after']),
    );
    for (const { listed, place, at } of fields) {
      const { path, method } = listed;
      const good = goodValue(bodySchema(listed));
      const send = async (bad: unknown, index: number): Promise<void> => {
        // Each for a user of its own: nobody waits for anybody's lock.
        const places: Readonly<Record<string, string>> = { ...GOOD_PLACES, user_id: `x${index}` };
        const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => places[name] ?? 'x');
        const text = typeof bad === 'string' ? bad : JSON.stringify(bad);
        const query = place === 'query' ? `?${new URLSearchParams({ [at[0]!]: text }).toString()}` : '';
        const body = place === 'body' ? replaced(good, at, bad) : good;
        const reply = await client.call(method, url + query, method === 'GET' ? {} : { body });
        const said = `${method} ${url}${query} ${at.join('.')} ${text.slice(0, 100)}`;
        // What is good after all may need a service, and there is none here.
        const isOurs = reply.status >= 500 && (reply.body as { code: string }).code !== 'service-down';
        expect(isOurs, said).toBe(false);
        expect(JSON.stringify(reply.body), said).not.toMatch(/\bat .*\.(ts|js):\d+/);
        // The validator's own words tell a caller nothing.
        expect(JSON.stringify(reply.body), said).not.toMatch(/Invalid|Too (big|small)|expected|received/);
      };
      await Promise.all(BAD.map(send));
    }
  });
});

const GOOD_PLACES: Readonly<Record<string, string>> = {
  run_id: 'scheduled-20261116T080000Z',
  target: 'ach',
};

/** What is of the wrong kind, too large, too far off, or looks right and is not. */
const BAD = [
  null,
  true,
  -1,
  1e308,
  [],
  {},
  '',
  ' ',
  '\0',
  '\ud83d',
  '__proto__',
  'x'.repeat(5_000),
  '9999999.99',
  '-0.01',
  '0001-01-01',
  '9999-12-31',
  '2026-02-30',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999999999Z',
  'user:',
  'user:\u202e',
];

const bodySchema = ({ operation }: Listed): Schema =>
  operation.requestBody?.content['application/json'].schema ?? {};

/** The ways to all values of a body. */
function leavesOf({ properties, items, anyOf }: Schema): string[][] {
  if (properties !== undefined)
    return Object.entries(properties).flatMap(([name, inner]) =>
      leavesOf(inner).map((rest) => [name, ...rest]),
    );
  if (items !== undefined) return [[], ...leavesOf(items).map((rest) => ['0', ...rest])];
  return anyOf === undefined ? [[]] : leavesOf(anyOf[0]!);
}

function goodValue({ type, properties, items, anyOf, enum: names, const: only, examples }: Schema): unknown {
  if (properties !== undefined)
    return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, goodValue(inner)]));
  if (items !== undefined) return [goodValue(items)];
  if (anyOf !== undefined) return goodValue(anyOf[0]!);
  const known = only ?? examples?.[0] ?? names?.[0];
  return known ?? { string: 'x', boolean: true, integer: 1 }[type ?? 'string'];
}

function replaced(value: unknown, [first, ...rest]: readonly string[], by: unknown): unknown {
  if (first === undefined) return by;
  const inner = (value as Record<string, unknown>)[first];
  const fresh = replaced(inner, rest, by);
  return Array.isArray(value) ? [fresh] : { ...(value as object), [first]: fresh };
}

/** Names that the route knows, and others. */
const oneOf = (known: readonly string[], other: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  known.length === 0 ? other : fc.oneof({ arbitrary: fc.constantFrom(...known), weight: 4 }, other);

type Listed = Awaited<ReturnType<typeof operations>>[number];

const queryFields = ({ operation }: Listed): string[] =>
  operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);

const bodyFields = (listed: Listed): string[] => Object.keys(bodySchema(listed).properties ?? {});

/** Lone surrogates cannot be sent at all. */
const wellFormed = (text: string): string => text.replaceAll(/\p{Surrogate}/gu, '?');

describe('what cannot be read', () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    client.call('POST', '/events/income', { body, headers });

  it.each([
    ['half of an object', '{"id":', {}, 400, 'malformed-body'],
    ['a text', '"text"', {}, 400, 'invalid-request'],
    ['a list', '[]', {}, 400, 'invalid-request'],
    ['null', 'null', {}, 400, 'invalid-request'],
    ['300 kB', JSON.stringify({ id: 'x'.repeat(300_000) }), {}, 413, 'body-too-large'],
    ['an unknown encoding', '{}', { 'content-encoding': 'br-and-more' }, 415, 'unsupported-media-type'],
    [
      'another character set',
      '{}',
      { 'content-type': 'application/json; charset=latin1' },
      415,
      'unsupported-media-type',
    ],
  ])('%s', async (_what, body, headers, status, code) => {
    expect(await post(body, headers)).toMatchObject({ status, body: { status, code } });
  });

  it('the whole of a body, where no field can be named', async () => {
    expect(await post('[]')).toMatchObject({
      body: { detail: expect.stringMatching(/^body: \S/) as string },
    });
  });

  it('a path that cannot be decoded', async () => {
    expect(await client.call('GET', '/v1/%ff/requests/x')).toMatchObject({
      status: 400,
      body: { code: 'malformed-path' },
    });
  });

  it('a route that does not exist, or not with this method', async () => {
    expect(await client.call('GET', '/v2/nothing')).toMatchObject({
      status: 404,
      body: { code: 'not-found' },
    });
    const reply = await client.call('DELETE', '/events/income');
    expect(reply).toMatchObject({ status: 405, body: { code: 'method-not-allowed' } });
    expect(reply.headers.get('allow')).toBe('POST');
  });
});

describe('the front door', () => {
  it('names every request, keeps a caller’s name for it, and logs neither tokens nor paths as they came', async () => {
    lines.length = 0;
    const mine = await client.call('GET', '/v1/jane@example.com/requests/x', {
      headers: { 'x-request-id': 'mine-1' },
    });
    expect(mine.headers.get('x-request-id')).toBe('mine-1');
    expect(mine.body).toMatchObject({ request_id: 'mine-1' });
    const other = await client.call('GET', '/v1/x/requests/x', { headers: { 'x-request-id': 'a b' } });
    expect(other.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    const logged = JSON.stringify(lines);
    expect(logged).toContain('"route":"/v1/{user_id}/requests/{job_id}"');
    expect(logged).toContain('operator-name');
    expect(logged).not.toContain('jane@');
    for (const token of Object.values(TOKENS)) expect(logged).not.toContain(token);
  });

  it('sends the headers that keep browsers from guessing', async () => {
    const { headers } = await client.call('GET', '/health/live', { as: null });
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(headers.get('x-powered-by')).toBeNull();
  });

  it('serves its documentation without a token and without the internet', async () => {
    const { body: page } = await client.call('GET', '/docs', { as: null });
    const assets = [...String(page).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path!);
    expect(assets.length).toBeGreaterThan(2);
    for (const path of assets) {
      expect(path).not.toMatch(/^(https?:)?\/\//);
      expect((await fetch(`${client.url}/${path}`)).status, path).toBe(200);
    }
    expect((await fetch(`${client.url}/docs/`)).url).toBe(`${client.url}/docs`);
  });

  it('answers /metrics to a caller with a token', async () => {
    expect((await client.call('GET', '/metrics', { as: null })).status).toBe(401);
    expect((await client.call('GET', '/metrics', { as: 'viewer' })).body).toContain(
      'process_cpu_seconds_total',
    );
  });

  it('counts a request whose caller went away as cut off, by the route that was meant', async () => {
    lines.length = 0;
    const half = request(`${client.url}/events/income`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKENS.service}`, 'content-length': '100' },
    });
    half.on('error', () => undefined);
    half.write('{"id":');
    await once(half, 'socket').then(([socket]) => once(socket as NodeJS.EventEmitter, 'connect'));
    // Something that came later is answered: the first has been read as far as it goes.
    await client.call('GET', '/health/live', { as: null });
    half.destroy();
    const told = () => lines.filter(({ fields }) => 'route' in fields && fields.route === '/events/income');
    await eventually('it has ended', () => Promise.resolve(told().length > 0));
    expect(told()).toEqual([
      {
        message: 'request',
        fields: expect.objectContaining({ method: 'POST', status: 499, cutOff: true }) as object,
      },
    ]);
    expect((await client.call('GET', '/metrics')).body).toMatch(
      /http_request_duration_seconds_count\{(?=.*method="POST")(?=.*route="\/events\/income")(?=.*status="499").*\} 1/,
    );
  });

  it('counts a token’s requests over all processes, and lets them pass while Redis is away', async () => {
    const limited = { ...environment, API_RATE_PER_MINUTE: '5' };
    const [one, two] = await Promise.all([api(limited), api(limited)]);
    await Promise.all([one, two].map(isReady));
    await redis.client.flushall();
    const statuses: number[] = [];
    for (const each of [one, two, one, two, one, two, one]) {
      statuses.push((await each.call('GET', '/v1/x/requests/x', { as: 'service' })).status);
    }
    expect(statuses).toEqual([404, 404, 404, 404, 404, 429, 429]);
    const refused = await one.call('GET', '/v1/x/requests/x', { as: 'service' });
    expect(refused.body).toMatchObject({ code: 'too-many-requests' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await one.call('GET', '/v1/x/requests/x', { as: 'viewer' })).status).toBe(404);
    await redis.kill();
    expect((await two.call('GET', '/v1/x/requests/x', { as: 'service' })).status).toBe(404);
    await Promise.all([one.close(), two.close()]);
  });

  it.each([
    ['', 'API_TOKENS is not set'],
    ['name:operator', 'API_TOKENS must be'],
    ['name:king:a-token-that-is-long', 'API_TOKENS must be'],
    [`${API_TOKENS},${API_TOKENS}`, 'each name once'],
    [`${API_TOKENS},twin:viewer:${TOKENS.operator}`, 'operator-name and twin have the same'],
  ])('does not open with the tokens %j', async (tokens, message) => {
    await expect(api({ ...environment, API_TOKENS: tokens })).rejects.toThrow(message);
  });
});
