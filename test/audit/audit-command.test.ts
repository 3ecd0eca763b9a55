import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runAudit } from '../../src/cli/audit-command.ts';
import { plusMs } from '../../src/domain/instant.ts';
import type { Float } from '../../src/domain/floats/float.ts';
import { recordIdOf } from '../../src/domain/floats/record-id.ts';
import type { Subscription } from '../../src/domain/subscription.ts';
import { floatDesk } from '../support/float-desk.ts';
import { day } from '../support/floats.ts';
import { sharedStack } from '../support/stack.ts';
import type { Bench } from './bench.ts';
import { bench } from './bench.ts';

let on: Bench;
let good: Subscription;

beforeAll(async () => {
  on = await bench();
  good = await on.here.member();
  await on.here.collect('INITIAL', good);
});
afterAll(() => on.close());

async function run(json: boolean, variables: Record<string, string> = {}) {
  const { tables } = on.here.store;
  const environment = {
    AWS_ENDPOINT_URL_DYNAMODB: sharedStack().dynamodbUrl,
    BILLING_TABLE: tables.billing,
    HISTORY_TABLE: tables.history,
    LOCKS_TABLE: tables.locks,
    PIPELINE_TABLE: tables.pipeline,
    DYNAMO_TABLE: tables.floats,
    RECURRING_TABLE: tables.recurring,
    COLLECTION_HISTORY_TABLE: tables.collectionHistory,
    CLOCK_URL: `${on.bankUrl}/clock`,
    PAYMENTS_SERVICE_URL: on.bankUrl,
    ...variables,
  };
  const lines: string[] = [];
  const out = {
    line: (text = '') => lines.push(text),
    table: () => undefined,
    progress: () => ({ update: () => undefined, finish: () => undefined }),
  };
  let written = '';
  const code = await runAudit(environment, { json, write: (text) => (written += text) }, out);
  return { code, text: lines.join('\n'), written };
}

it('a clean house ends with 0 and says what was checked', async () => {
  const { code, text, written } = await run(false);
  expect(code).toBe(0);
  expect(text).toContain('checked 2 records, 1 attempts, 1 debits: no violation');
  expect(written).toBe('');
});

it('a processor without a ledger is said clearly, and the tables are audited all the same', async () => {
  const { code, text } = await run(false, { PAYMENTS_SERVICE_URL: `${on.bankUrl}/nowhere` });
  expect(code).toBe(0);
  expect(text).toContain('ledger not readable: skipped');
  expect(text).toContain('checked 2 records, 1 attempts, 0 debits');
  expect((await run(false, { PAYMENTS_SERVICE_URL: '' })).text).toContain('ledger not readable: skipped');
});

it('an attempt is overdue after ATTEMPT_ABANDON_AFTER', async () => {
  await on.here.faults([{ id: 'lost', service: 'payments', fault: 'error-before', times: 3 }]);
  const record = await on.here.member();
  await on.here.collect('INITIAL', record, 'run-1');
  await on.here.bank('POST', '/clock/advance', { by: '2h' });
  expect((await run(false)).code).toBe(0);
  const { code, text } = await run(false, { ATTEMPT_ABANDON_AFTER: '1h30m' });
  expect(code).toBe(1);
  expect(text).toMatch(/rule 2: user .*, record .*: attempt .* is open since/);
  await expect(run(false, { ATTEMPT_ABANDON_AFTER: 'soon' })).rejects.toThrow('ATTEMPT_ABANDON_AFTER');

  // Sent again it may be under way once more.
  await on.here.faults([{ id: 'lost-again', service: 'payments', fault: 'error-before', times: 3 }]);
  on.here.now = plusMs(on.here.now, 2 * 3_600_000);
  expect(await on.here.collect('INITIAL', record, 'run-2')).toMatchObject({ verdict: 'unknown' });
  expect((await run(false, { ATTEMPT_ABANDON_AFTER: '1h30m' })).code).toBe(0);
  await on.here.collect('INITIAL', record, 'run-2');
});

it('a violation ends with 1, and --json writes one line for machines', async () => {
  await on.charge(good, randomUUID());
  const { code, text, written } = await run(true);
  expect(code).toBe(1);
  const lines = written.trimEnd().split('\n');
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0]!)).toMatchObject({
    violations: [1, 2, 5].map((rule) => ({
      rule,
      user_id: good.userId,
      subscription_id: good.subscriptionId,
      detail: expect.any(String) as string,
    })),
    checked: 4,
  });
  expect(text).toContain('3 violations');
});

it('floats are audited along, under the limits of the configuration', async () => {
  const desk = floatDesk(on.here);
  const float: Float = await desk.float(
    { pinless: { mode: 'decline', code: '14' } },
    { dueDate: day('2026-10-16') },
  );
  for (const stage of ['TODAY6AM', 'RETRY'] as const)
    expect(await desk.collect(stage, float)).toMatchObject({ verdict: 'declined' });
  const ofFloat = ({ written }: { written: string }) => {
    const { violations, floats } = JSON.parse(written) as { violations: object[]; floats: number };
    expect(floats).toBe(1);
    return violations.filter((one) => 'user_id' in one && one.user_id === float.userId);
  };
  expect(ofFloat(await run(true))).toEqual([]);
  const strict = await run(true, { FLOAT_MAX_DAYS_PAST_DUE: '30', FLOAT_TWO_FAILURES_GATE: 'true' });
  expect(strict.text).toContain('checked 4 records and 1 floats, 4 attempts');
  expect(ofFloat(strict)).toEqual([
    {
      rule: 8,
      user_id: float.userId,
      subscription_id: recordIdOf(float.floatId),
      detail: expect.stringContaining('31 days past due, 30 are allowed') as string,
    },
  ]);
});
