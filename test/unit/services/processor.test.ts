import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMetrics } from '../../../src/adapters/metrics/prometheus.ts';
import { CircuitBreaker } from '../../../src/adapters/processor-gate/circuit-breaker.ts';
import { WatchedProcessor } from '../../../src/adapters/processor-gate/watched-processor.ts';
import { HttpService } from '../../../src/adapters/services/http.ts';
import { HttpProcessor } from '../../../src/adapters/services/processor.ts';
import { systemTimer } from '../../../src/adapters/system-timer.ts';
import { cents } from '../../../src/domain/money.ts';
import type { UserId } from '../../../src/domain/subscription.ts';
import type { ChargeRequest } from '../../../src/ports/services.ts';

let server: Server;
let answer: { readonly status: number; readonly body: string };

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    response.writeHead(answer.status, { 'content-type': 'application/problem+json' }).end(answer.body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** As a worker has it, with a breaker that opens at the first charge without an answer. */
function watched() {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const breaker = new CircuitBreaker({
    timer: systemTimer,
    failuresToOpen: 1,
    openMs: 60_000,
    probeMs: 60_000,
    onChange: () => undefined,
  });
  const http = new HttpService({ url, name: 'payments service', timeoutMs: 5_000 });
  const processor = new WatchedProcessor(new HttpProcessor(http), breaker, createMetrics());
  return { processor, isOpen: () => breaker.waitMs() !== null };
}

const answers = (status: number, code?: string) => {
  answer = { status, body: code === undefined ? 'no JSON' : JSON.stringify({ status, code }) };
};

const CHARGE: ChargeRequest = {
  userId: 'u-1' as UserId,
  kind: 'SUBSCRIPTION',
  referenceId: 's-1',
  rail: 'PINLESS',
  amount: cents(499),
  description: null,
};

describe('a refund', () => {
  it('of what was given back under another key is refused for good, and the processor is there', async () => {
    const { processor, isOpen } = watched();
    answers(409, 'already_refunded');
    expect(await processor.refund('key', 'c-1')).toEqual({
      kind: 'answered',
      payment: {
        confirmationId: 'c-1',
        status: 'FAILED',
        errorCode: 'already_refunded',
        errorMessage: null,
        accountMask: null,
        cardMask: null,
      },
    });
    expect(isOpen()).toBe(false);
  });

  it.each([
    [400, 'invalid_request'],
    [401, undefined],
    [403, undefined],
    [404, 'payment_not_found'],
    [409, 'idempotency_key_reused'],
    [409, undefined],
    [422, undefined],
  ])('that is answered with %i %s retires no key, and holds nobody else up', async (status, code) => {
    const { processor, isOpen } = watched();
    answers(status, code);
    expect(await processor.refund('key', 'c-1')).toMatchObject({ kind: 'unknown' });
    expect(isOpen()).toBe(false);
  });

  it.each([408, 500, 503])('that is answered with %i got none', async (status) => {
    const { processor, isOpen } = watched();
    answers(status);
    expect(await processor.refund('key', 'c-1')).toMatchObject({ kind: 'unknown' });
    expect(isOpen()).toBe(true);
  });

  it('that is refused does not say that charges are answered again', async () => {
    const { processor, isOpen } = watched();
    answers(503);
    await processor.charge('key', CHARGE);
    answers(401);
    await processor.refund('key', 'c-1');
    expect(isOpen()).toBe(true);
  });
});

describe('a charge', () => {
  it.each([400, 401, 404, 409, 500])(
    'that is answered with %i has no answer: with a wrong token none would',
    async (status) => {
      const { processor, isOpen } = watched();
      answers(status, 'already_refunded');
      expect(await processor.charge('key', CHARGE)).toMatchObject({ kind: 'unknown' });
      expect(isOpen()).toBe(true);
    },
  );
});
