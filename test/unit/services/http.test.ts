import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectServices } from '../../../src/adapters/services/connections.ts';
import { HttpService } from '../../../src/adapters/services/http.ts';
import { sigV4 } from '../../../src/adapters/services/sign-request.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import * as sections from '../../../src/config/sections.ts';
import type { ReceivedRequest } from './sig-v4-by-hand.ts';
import { signatureByHand } from './sig-v4-by-hand.ts';

const ID = 'AKIDEXAMPLE';
const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/(\d{8})\/([a-z0-9-]+)\/([a-z-]+)\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;

describe('requests to services', () => {
  let server: Server;
  let url: string;
  let received: ReceivedRequest[];

  beforeAll(async () => {
    server = createServer((request: IncomingMessage, response) => {
      void text(request).then((body) => {
        const headers = request.headers as Record<string, string>;
        received.push({ method: request.method ?? '', path: request.url ?? '', headers, body });
        response.end('{}');
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    received = [];
  });
  afterEach(() => vi.unstubAllEnvs());
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const configured = (environment: Record<string, string>) =>
    connectServices(
      readConfig(
        {
          USER_SERVICE_URL: url,
          PAYMENTS_SERVICE_URL: url,
          TXN_SERVICE_URL: url,
          NOTIFICATIONS_URL: url,
          ...environment,
        },
        { services: sections.services, processor: sections.processor },
      ),
    );

  /** What the signature says and whether it is right, as API Gateway would check it. */
  function checkSignature(request: ReceivedRequest) {
    const [, day = '', region = '', service = '', names = '', signature] =
      AUTHORIZATION.exec(request.headers['authorization'] ?? '') ?? [];
    const signedHeaders = names.split(';');
    const expected = signatureByHand(request, signedHeaders, { day, region, service }, SECRET);
    return { region, service, signedHeaders, right: signature === expected };
  }

  it('the check by hand reproduces the vector that AWS publishes (get-vanilla)', () => {
    const signature = signatureByHand(
      {
        method: 'GET',
        path: '/',
        headers: { host: 'example.amazonaws.com', 'x-amz-date': '20150830T123600Z' },
        body: '',
      },
      ['host', 'x-amz-date'],
      { day: '20150830', region: 'us-east-1', service: 'service' },
      SECRET,
    );
    expect(signature).toBe('5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31');
  });

  it('to the user service are signed for its region when one is set', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', ID);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', SECRET);
    vi.stubEnv('AWS_SESSION_TOKEN', 'session');
    const { users } = configured({ USER_SERVICE_REGION: 'eu-west-1' });
    await users.send('GET', `/users/${encodeURIComponent('auth0|1 é')}`);
    await users.send('POST', '/users/u-1/ban', { body: { reason: 'fraud' } });
    const [get, post] = received;
    expect(get!.path).toBe('/users/auth0%7C1%20%C3%A9');
    for (const request of [get!, post!]) {
      expect(checkSignature(request)).toMatchObject({
        region: 'eu-west-1',
        service: 'execute-api',
        right: true,
      });
      expect(request.headers['x-amz-security-token']).toBe('session');
    }
    expect(checkSignature(get!).signedHeaders).toEqual(
      expect.arrayContaining(['host', 'x-amz-date', 'x-amz-content-sha256', 'x-amz-security-token']),
    );
    expect(JSON.parse(post!.body)).toEqual({ reason: 'fraud' });
    expect(checkSignature({ ...post!, body: '{"reason":"other"}' }).right).toBe(false);
  });

  it('are signed anew each time, with the real time', async () => {
    const credentials = { accessKeyId: ID, secretAccessKey: SECRET };
    const sign = sigV4({ region: 'us-east-1', credentials });
    await new HttpService({ url, name: 'user service', sign, timeoutMs: 5_000 }).send('GET', '/users/u');
    const date = received[0]!.headers['x-amz-date']!;
    const ms = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
    expect(Math.abs(ms - Date.now())).toBeLessThan(60_000);
  });

  it('to the others carry their own token, and nothing when there is none', async () => {
    const tokens = { PAYMENTS_TOKEN: 'p', TXN_TOKEN: 't', NOTIFICATIONS_TOKEN: 'n' };
    const send = async (environment: Record<string, string>) => {
      received = [];
      const { users, payments, accounts, notifications } = configured(environment);
      for (const service of [users, payments, accounts, notifications]) await service.send('GET', '/x');
      return received.map(({ headers }) => headers['authorization']);
    };
    expect(await send(tokens)).toEqual([undefined, 'Bearer p', 'Bearer t', 'Bearer n']);
    expect(await send({})).toEqual([undefined, undefined, undefined, undefined]);
  });
});
