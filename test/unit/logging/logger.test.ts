import { describe, expect, it } from 'vitest';
import { NO_LOG, createLogger } from '../../../src/adapters/logging/logger.ts';
import type { Log } from '../../../src/ports/log.ts';

function logged(write: (log: Log) => void, level: 'debug' | 'info' | 'silent' = 'debug') {
  const lines: string[] = [];
  write(createLogger({ role: 'workers', level, destination: { write: (line) => lines.push(line) } }));
  return { text: lines.join(''), lines: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

/** In every value that must not come out, so that one look finds any of them. */
const PLANTED = 'PLANTED';
const KEYS = [
  'email',
  'user_email',
  'emailAddress',
  'name',
  'first_name',
  'lastName',
  'mask',
  'account_mask',
  'accountMask',
  'card_mask',
  'card-number',
  'token',
  'PAYMENTS_TOKEN',
  'access_token',
  'authorization',
  'Authorization',
  'password',
  'client_secret',
  'cookie',
  'set-cookie',
  'address',
  'phone',
  'phone_number',
  'ssn',
  'date_of_birth',
  'apiKey',
];

describe('the log', () => {
  it('says who speaks, when, and what', () => {
    const { lines } = logged((log) => log.info({ user_id: 'u-1', queue_name: 'janitor', count: 3 }, 'done'));
    expect(lines).toEqual([
      {
        level: 30,
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
        role: 'workers',
        pid: process.pid,
        user_id: 'u-1',
        queue_name: 'janitor',
        count: 3,
        msg: 'done',
      },
    ]);
  });

  it('has four levels and says nothing below the one that is set', () => {
    const all = (log: Log): void => {
      for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level]({}, level);
    };
    expect(logged(all).lines.map(({ msg }) => msg)).toEqual(['debug', 'info', 'warn', 'error']);
    expect(logged(all, 'info').lines.map(({ msg }) => msg)).toEqual(['info', 'warn', 'error']);
    expect(logged(all, 'silent').lines).toEqual([]);
    all(NO_LOG.child({}));
  });

  it('puts the fields of a child on each of its lines', () => {
    const { lines } = logged((log) => log.child({ job: 'j' }).child({ user_id: 'u' }).warn({ n: 1 }, 'm'));
    expect(lines[0]).toMatchObject({ job: 'j', user_id: 'u', n: 1 });
  });

  it.each(KEYS)('never writes %s, at any depth', (key) => {
    const secret = { [key]: PLANTED };
    const { text, lines } = logged((log) => {
      log.info(secret, 'fields');
      log.info({ user: secret, list: [secret, { a: { b: { c: secret } } }] }, 'deeper');
      log.child(secret).info({}, 'child');
      log.child({ request: { headers: secret } }).info({}, 'deeper in a child');
    });
    expect(lines).toHaveLength(4);
    expect(text).not.toContain(PLANTED);
    expect(text).toContain('[redacted]');
  });

  it('keeps of an error what tells which it was, and nothing that hangs on it', () => {
    const cause = Object.assign(new Error('reset'), { code: 'ECONNRESET', response: { body: PLANTED } });
    const error = Object.assign(new TypeError('no answer', { cause }), {
      code: 'service-down',
      body: PLANTED,
      request: { headers: { 'x-note': PLANTED } },
      config: { data: PLANTED },
    });
    const { text, lines } = logged((log) =>
      log.error({ err: error, others: [{ failure: error }] }, 'failed'),
    );
    expect(text).not.toContain(PLANTED);
    expect(lines[0]!['err']).toEqual({
      name: 'TypeError',
      message: 'no answer',
      code: 'service-down',
      stack: expect.stringContaining('logger.test.ts') as string,
      cause: {
        name: 'Error',
        message: 'reset',
        code: 'ECONNRESET',
        stack: expect.any(String) as string,
      },
    });
    expect(lines[0]!['others']).toEqual([{ failure: lines[0]!['err'] }]);
  });

  it('takes e-mail addresses and credentials out of texts', () => {
    const { text } = logged((log) => {
      const error = new Error(`no account of ${PLANTED}@example.com, header Bearer ${PLANTED}`);
      log.error({ err: error, detail: `<${PLANTED}.x+y@example.com>` }, `sent to ${PLANTED}@example.com`);
      log.error({ url: new URL(`redis://:${PLANTED}@localhost:6379`) }, 'm');
    });
    expect(text).not.toContain(PLANTED);
    expect(text).toContain('no account of [redacted]');
    expect(text).toContain('//[redacted]');
  });

  it('writes dates as such, and survives a circle', () => {
    const circle: Record<string, unknown> = { at: new Date(0) };
    circle['itself'] = circle;
    const { lines } = logged((log) => log.info(circle, 'round'));
    expect(lines[0]).toMatchObject({ at: '1970-01-01T00:00:00.000Z', msg: 'round' });
  });
});
