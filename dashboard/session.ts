import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { ApiToken, Caller } from '../src/ports/caller.ts';

export interface Session {
  readonly caller: Caller;
  readonly expiresAtMs: number;
}

export const SESSION_COOKIE = 'console';
/** A working day. */
export const SESSION_MS = 8 * 3_600_000;

export interface SessionOptions {
  readonly tokens: readonly ApiToken[];
  /** Of the wall: a session ends when a person expects it to, whatever the clock of billing says. */
  readonly nowMs: () => number;
}

/**
 * The cookie alone says which user is signed in, so any dashboard process can read it. Its signature hangs on every
 * configured token: changing one ends all sessions.
 */
export class Sessions {
  private readonly callers: ReadonlyMap<string, Caller>;
  private readonly key: Buffer;
  private readonly nowMs: () => number;

  constructor({ tokens, nowMs }: SessionOptions) {
    this.callers = new Map(tokens.map(({ name, role }) => [name, { name, role }]));
    const whole = tokens.map(({ name, role, token }) => JSON.stringify([name, role, token])).sort();
    this.key = createHash('sha256')
      .update(`console sessions\n${whole.join('\n')}`)
      .digest();
    this.nowMs = nowMs;
  }

  issue({ name }: Caller): string {
    const said = Buffer.from(JSON.stringify({ name, until: this.nowMs() + SESSION_MS })).toString(
      'base64url',
    );
    return `${said}.${this.sign(said).toString('base64url')}`;
  }

  /** Null: not signed in, or no longer. */
  read(cookies: string | undefined): Session | null {
    const [said = '', signature = ''] = cookieIn(cookies).split('.');
    const given = Buffer.from(signature, 'base64url');
    const expected = this.sign(said);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
    const { name, until } = JSON.parse(Buffer.from(said, 'base64url').toString()) as {
      name: string;
      until: number;
    };
    const caller = this.callers.get(name);
    return caller === undefined || until <= this.nowMs() ? null : { caller, expiresAtMs: until };
  }

  private sign(said: string): Buffer {
    return createHmac('sha256', this.key).update(said).digest();
  }
}

function cookieIn(header = ''): string {
  const prefix = `${SESSION_COOKIE}=`;
  const found = header.split(';').find((cookie) => cookie.trim().startsWith(prefix));
  return found?.trim().slice(prefix.length) ?? '';
}
