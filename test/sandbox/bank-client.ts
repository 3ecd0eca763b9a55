import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { startSandbox, type RunningSandbox, type SandboxOptions } from '../support/sandbox.ts';

export type Json = Record<string, unknown>;
export interface Answer {
  readonly status: number;
  readonly body: Json;
  readonly headers: Headers;
}

export interface Entry extends Json {
  readonly seq: number;
  readonly at: string;
  readonly type: string;
}

export interface CallOptions {
  readonly key?: string;
  readonly signal?: AbortSignal;
  readonly raw?: string;
}

export interface Charge {
  readonly user_id: string;
  readonly kind: string;
  readonly reference_id: string;
  readonly method: string;
  readonly amount: string;
  readonly provider?: string;
  readonly description?: string;
}

/** The sandbox as its callers see it: HTTP and nothing else. */
export class BankClient {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  async call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(options.key !== undefined && { 'idempotency-key': options.key }),
      },
      ...(options.signal && { signal: options.signal }),
      ...((options.raw !== undefined || body !== undefined) && { body: options.raw ?? JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? {} : JSON.parse(text)) as Json,
    };
  }

  get(path: string): Promise<Answer> {
    return this.call('GET', path);
  }

  pay(charge: Partial<Charge> & { readonly user_id: string }, key: string = randomUUID()): Promise<Answer> {
    return this.call('POST', '/payments', chargeOf(charge), { key });
  }

  refund(confirmationId: unknown, key: string = randomUUID()): Promise<Answer> {
    return this.call('POST', `/payments/${String(confirmationId)}/refund`, undefined, { key });
  }

  async setUser(userId: string, script: Json = {}): Promise<Answer> {
    return must(200, await this.call('PUT', `/sandbox/users/${userId}`, script));
  }

  async setFaults(...rules: Json[]): Promise<Answer> {
    return must(200, await this.call('PUT', '/sandbox/faults', { rules }));
  }

  async setClock(now: string | null, frozen = true): Promise<Answer> {
    return must(200, await this.call('PUT', '/clock', { now, frozen }));
  }

  async advance(by: string): Promise<Answer> {
    return must(200, await this.call('POST', '/clock/advance', { by }));
  }

  async statusOf(confirmationId: unknown): Promise<unknown> {
    return (await this.get(`/payments/${String(confirmationId)}`)).body['status'];
  }

  async balanceOf(userId: string): Promise<unknown> {
    return (await this.get(`/users/${userId}/accounts/primary`)).body['available_balance'];
  }

  /** Every entry that matches, over as many pages as it takes. */
  async ledger(filter: Record<string, string> = {}): Promise<Entry[]> {
    const all: Entry[] = [];
    for (let after: number | null = 0; after !== null;) {
      const query = new URLSearchParams({ ...filter, after: String(after) });
      const page = must(200, await this.get(`/ledger?${query.toString()}`)).body;
      all.push(...(page['entries'] as Entry[]));
      after = page['next'] as number | null;
    }
    return all;
  }
}

function must(status: number, answer: Answer): Answer {
  if (answer.status === status) return answer;
  throw new Error(`expected ${status}, got ${answer.status}: ${JSON.stringify(answer.body)}`);
}

export function chargeOf(charge: Partial<Charge> & { readonly user_id: string }): Charge {
  return {
    kind: 'SUBSCRIPTION',
    reference_id: `sub-${charge.user_id}`,
    method: 'PINLESS',
    amount: '4.99',
    ...charge,
  };
}

/** A sandbox for one test, ended with it. */
export async function bankForTest(
  options: SandboxOptions = {},
): Promise<BankClient & { readonly process: RunningSandbox }> {
  const process = await startSandbox(options);
  onTestFinished(async () => {
    await process.stop();
  });
  return Object.assign(new BankClient(process.url), { process });
}

/** One sandbox for all tests of a file. Its clock only goes forward, so each test brings users and days of its own. */
export function bankForFile(options: SandboxOptions = {}): () => BankClient {
  let sandbox: RunningSandbox;
  beforeAll(async () => {
    sandbox = await startSandbox(options);
  });
  afterAll(async () => {
    await sandbox.stop();
  });
  return () => new BankClient(sandbox.url);
}

export const typesOf = (entries: readonly Entry[]): string[] => entries.map((entry) => entry.type);
