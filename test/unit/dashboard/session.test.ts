import { describe, expect, it } from 'vitest';
import { SESSION_MS, Sessions } from '../../../dashboard/session.ts';
import type { ApiToken } from '../../../src/ports/caller.ts';

const jane: ApiToken = { name: 'jane', role: 'operator', token: 'a-token-of-jane-0001' };
const joe: ApiToken = { name: 'joe', role: 'viewer', token: 'a-token-of-joe-00001' };

let now = 1_000_000;
const sessions = (tokens: readonly ApiToken[]): Sessions => new Sessions({ tokens, nowMs: () => now });
const cookie = (value: string): string => `other=1; console=${value}; more=2`;

describe('a session', () => {
  it('says who is signed in, to any process with the same tokens', () => {
    const value = sessions([jane, joe]).issue(jane);
    expect(sessions([joe, jane]).read(cookie(value))).toEqual({
      caller: { name: 'jane', role: 'operator' },
      expiresAtMs: now + SESSION_MS,
    });
  });

  it('ends after eight hours', () => {
    const value = sessions([jane]).issue(jane);
    now += SESSION_MS - 1;
    expect(sessions([jane]).read(cookie(value))).not.toBeNull();
    now += 1;
    expect(sessions([jane]).read(cookie(value))).toBeNull();
  });

  it.each([
    ['another token', [{ ...jane, token: 'another-token-of-jane' }, joe]],
    ['another role', [{ ...jane, role: 'viewer' as const }, joe]],
    ['one who left', [jane]],
  ])('ends for everybody with %s', (_what, tokens) => {
    const value = sessions([jane, joe]).issue(jane);
    expect(sessions(tokens).read(cookie(value))).toBeNull();
  });

  it('cannot be made or changed by somebody else', () => {
    const value = sessions([jane, joe]).issue(joe);
    const [said = '', signature = ''] = value.split('.');
    const forged = Buffer.from(JSON.stringify({ name: 'jane', until: now + 1e9 })).toString('base64url');
    for (const bad of [
      `${forged}.${signature}`,
      `${said}.`,
      said,
      `${said}.${signature.slice(1)}`,
      `.${signature}`,
      '',
      '%',
    ]) {
      expect(sessions([jane, joe]).read(cookie(bad))).toBeNull();
    }
    expect(sessions([jane, joe]).read(undefined)).toBeNull();
  });
});
