import type { z } from 'zod';
import { ServiceDownError } from '../../errors.ts';
import { readBy } from '../../in-words.ts';
import type { SignRequest } from './sign-request.ts';

export interface HttpOptions {
  readonly url: string;
  /** For messages: `user service`. */
  readonly name: string;
  /** Sent as a bearer token. */
  readonly token?: string | undefined;
  /** Signs each request, for a service that wants more than a token. */
  readonly sign?: SignRequest | undefined;
  readonly timeoutMs: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Null when there was none or it was no JSON. */
  readonly body: unknown;
}

/** One service over HTTP. Every request has a time limit, counted until its body has arrived. */
export class HttpService {
  readonly name: string;
  private readonly options: HttpOptions;
  private readonly base: string;

  constructor(options: HttpOptions) {
    this.options = options;
    this.name = options.name;
    this.base = options.url.replace(/\/$/, '');
  }

  /** Throws whatever kept the answer from coming: a time-out, a refused connection. */
  async send(
    method: 'GET' | 'POST',
    path: string,
    extra: { headers?: Record<string, string>; body?: unknown } = {},
  ): Promise<HttpAnswer> {
    const { token, sign, timeoutMs } = this.options;
    const signal = AbortSignal.timeout(timeoutMs);
    const url = new URL(this.base + path);
    const body = extra.body === undefined ? undefined : JSON.stringify(extra.body);
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...extra.headers,
    };
    const response = await fetch(url, {
      method,
      headers: sign === undefined ? headers : await sign({ method, url, headers, body }),
      ...(body === undefined ? {} : { body }),
      signal,
    });
    return { status: response.status, headers: response.headers, body: await jsonOf(response) };
  }

  /** A read: the checked body, null for 404, and a ServiceDownError for everything else. */
  async read<T>(path: string, schema: z.ZodType<T>): Promise<T | null> {
    const { status, body } = await this.send('GET', path).catch((error: unknown) => {
      throw this.down('does not answer', error);
    });
    if (status === 404) return null;
    if (status !== 200) throw this.down(`answers ${status}`);
    return this.checked(schema, body);
  }

  checked<T>(schema: z.ZodType<T>, body: unknown): T {
    const read = readBy(schema, body);
    if ('wrong' in read) throw this.down(`answers what cannot be read (${read.wrong})`);
    return read.data;
  }

  down(what: string, cause?: unknown): ServiceDownError {
    return new ServiceDownError(`the ${this.name} ${what}`, { cause });
  }
}

async function jsonOf(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
