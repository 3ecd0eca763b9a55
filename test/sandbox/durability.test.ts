import { randomUUID } from 'node:crypto';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SandboxDidNotStart, startSandbox } from '../support/sandbox.ts';
import { temporaryFolder } from '../support/stack.ts';
import { BankClient, bankForTest } from './bank-client.ts';
import { PaymentsStream } from './payments-stream.ts';

async function folderForTest(): Promise<string> {
  const folder = await temporaryFolder();
  onTestFinished(folder.remove);
  return folder.path;
}

/** What a start that fails has to say. */
async function refusal(options: Parameters<typeof startSandbox>[0]): Promise<SandboxDidNotStart> {
  const outcome = await startSandbox(options).then(
    (sandbox) => sandbox.stop(),
    (error: unknown) => error,
  );
  if (outcome instanceof SandboxDidNotStart) return outcome;
  throw new Error('it started');
}

describe('the sandbox process', () => {
  it('keeps users, keys, clock, faults and pending callbacks over a restart', async () => {
    const dataDir = await folderForTest();
    const stream = await PaymentsStream.create();
    const before = await startSandbox({ dataDir });
    const bank = new BankClient(before.url);
    await bank.setClock('2026-06-01T12:00:00Z');
    await bank.setUser('kept', { balance: { amount: '100.00' }, pinless: { mode: 'decline', times: 1 } });
    await bank.pay({ user_id: 'kept' }, 'used-up');
    const card = await bank.pay({ user_id: 'kept' }, 'card');
    const debit = await bank.pay({ user_id: 'kept', method: 'ACH' }, 'debit');
    await bank.advance('4d');
    const rule = { id: 'r', service: 'users', fault: 'error-before', times: 2 };
    await bank.setFaults(rule);
    expect((await bank.get('/users/kept')).status).toBe(500);
    const clock = (await bank.get('/clock')).body;
    expect(await before.stop()).toBe(0);

    const again = await bankForTest({ dataDir, ...stream.options });
    expect((await again.get('/clock')).body).toEqual(clock);
    expect((await again.pay({ user_id: 'kept' }, 'card')).body).toEqual(card.body);
    expect((await again.pay({ user_id: 'kept', amount: '1.00' }, 'card')).status).toBe(409);
    expect(await again.statusOf(debit.body['confirmation_id'])).toBe('COMPLETED');
    expect(await again.balanceOf('kept')).toBe('90.02');
    expect((await again.pay({ user_id: 'kept' })).body['status']).toBe('COMPLETED');
    expect((await again.get('/users/kept')).status).toBe(500);
    expect((await again.get('/users/kept')).status).toBe(200);
    await expect.poll(() => stream.types()).toEqual(['SUBSCRIPTION_COMPLETED']);
  });

  it('lets a running clock run on while it is down', async () => {
    const dataDir = await folderForTest();
    const before = await startSandbox({ dataDir });
    const bank = new BankClient(before.url);
    await bank.setClock('2030-01-01T00:00:00Z', false);
    const stoppedAt = Date.parse(String((await bank.get('/clock')).body['now']));
    await before.stop();
    const again = await bankForTest({ dataDir });
    const { now, version, frozen } = (await again.get('/clock')).body;
    expect(Date.parse(String(now))).toBeGreaterThan(stoppedAt);
    expect(Date.parse(String(now))).toBeLessThan(stoppedAt + 120_000);
    expect({ version, frozen }).toEqual({ version: 1, frozen: false });
  });

  it('keeps whatever it answered when it is killed right after', async () => {
    const dataDir = await folderForTest();
    const answers = new Map<string, unknown>();
    for (let round = 0; round < 2; round += 1) {
      const sandbox = await startSandbox({ dataDir });
      const bank = new BankClient(sandbox.url);
      await bank.setUser('killed', { balance: { amount: '1000.00' } });
      const inFlight = Array.from({ length: 20 }, async () => {
        const key = randomUUID();
        const { body } = await bank.pay({ user_id: 'killed' }, key);
        answers.set(key, body['confirmation_id']);
      });
      await Promise.race(inFlight);
      await sandbox.kill();
      await Promise.allSettled(inFlight);
    }
    const bank = await bankForTest({ dataDir });
    expect(answers.size).toBeGreaterThanOrEqual(2);
    for (const [key, confirmationId] of answers) {
      const { body } = await bank.get(`/payments/by-key/${key}`);
      expect(body).toMatchObject({ confirmation_id: confirmationId, status: 'COMPLETED' });
    }
  });

  it('cuts off a last line that was torn by a kill, and goes on after it', async () => {
    const dataDir = await folderForTest();
    const before = await startSandbox({ dataDir });
    const bank = new BankClient(before.url);
    await bank.setUser('torn');
    await bank.pay({ user_id: 'torn' }, 'whole');
    await before.kill();
    const file = join(dataDir, 'ledger.jsonl');
    const whole = await readFile(file, 'utf8');
    await appendFile(file, '{"seq":99,"at":"2026-0');
    const again = await bankForTest({ dataDir });
    expect(await readFile(file, 'utf8')).toBe(whole);
    expect((await again.get('/payments/by-key/whole')).status).toBe(200);
    await again.pay({ user_id: 'torn' }, 'next');
    const seqs = (await again.ledger()).map((entry) => entry.seq);
    expect(seqs).toEqual(seqs.map((_, i) => i + 1));
  });

  it('forgets a change whose callback the kill did not let it write: both or neither', async () => {
    const dataDir = await folderForTest();
    const before = await startSandbox({ dataDir });
    const bank = new BankClient(before.url);
    await bank.setUser('half');
    const { confirmation_id } = (await bank.pay({ user_id: 'half' })).body;
    await bank.refund(confirmation_id, 'refund');
    await before.kill();
    const file = join(dataDir, 'ledger.jsonl');
    const lines = (await readFile(file, 'utf8')).split('\n');
    const refunded = lines.findIndex((line) => line.includes('"refund.applied"'));
    expect(lines[refunded + 1]).toContain('"callback.queued"');
    await writeFile(file, `${lines.slice(0, refunded + 1).join('\n')}\n{"seq":`);
    const again = await bankForTest({ dataDir });
    expect(await again.statusOf(confirmation_id)).toBe('COMPLETED');
    expect(await again.refund(confirmation_id, 'refund')).toMatchObject({ status: 201 });
    expect(await again.ledger({ type: 'callback.queued' })).toHaveLength(1);
  });

  it.each([
    ['between its first two lines', 1, ''],
    ['between its last two lines', 2, ''],
    ['within its last line', 2, '{"seq":'],
  ])('cuts off as a whole what was written together and torn %s', async (_where, kept, torn) => {
    const dataDir = await folderForTest();
    const before = await startSandbox({ dataDir });
    const bank = new BankClient(before.url);
    await bank.setUser('whole');
    const together = ['a', 'b', 'c'].map((user_id) => ({ user_id }));
    expect((await bank.call('POST', '/sandbox/users', together)).status).toBe(200);
    await before.kill();
    const file = join(dataDir, 'ledger.jsonl');
    const [first, ...group] = (await readFile(file, 'utf8')).split('\n');
    expect(group.slice(0, 3).map((line) => line.includes('"more":true'))).toEqual([true, true, false]);
    await writeFile(file, `${[first, ...group.slice(0, kept)].join('\n')}\n${torn}`);

    const again = await bankForTest({ dataDir });
    expect(await readFile(file, 'utf8')).toBe(`${first}\n`);
    expect((await again.get('/sandbox/users/a')).status).toBe(404);
    await again.setUser('next');
    const entries = await again.ledger({ type: 'user.set' });
    expect(entries.map(({ user_id }) => user_id)).toEqual(['whole', 'next']);
  });

  it('refuses a ledger that is damaged in the middle', async () => {
    const dataDir = await folderForTest();
    await writeFile(join(dataDir, 'ledger.jsonl'), 'rubbish\n');
    const { exitCode, output } = await refusal({ dataDir });
    expect(exitCode).toBe(1);
    expect(output).toMatch(/^sandbox: .*ledger\.jsonl line 1 is damaged.*\n$/);
  });

  it('refuses a folder that it cannot write to, in one line', async () => {
    const file = join(await folderForTest(), 'a-file');
    await writeFile(file, '');
    const { exitCode, output } = await refusal({ dataDir: join(file, 'below') });
    expect(exitCode).toBe(1);
    expect(output).toMatch(/^sandbox: SANDBOX_DATA_DIR .* cannot be written: .*\n$/);
  });

  it('stops on bad values, naming each one and what is allowed, in one line', async () => {
    const bad = {
      SANDBOX_PORT: ['70000', '0 to 65535'],
      AWS_ENDPOINT_URL_KINESIS: ['not a url', 'http or https URL'],
      PAYMENTS_STREAM: ['a b', 'stream name'],
      DYNAMO_REGION: ['moon', 'AWS region'],
      LOG_LEVEL: ['loud', 'fatal, error, warn'],
    };
    const env = Object.fromEntries(Object.entries(bad).map(([name, [value]]) => [name, value]));
    const { exitCode, output } = await refusal({ env });
    expect(exitCode).toBe(1);
    for (const [name, [value, allowed]] of Object.entries(bad)) {
      expect(output).toMatch(new RegExp(`${name} must be [^;]*${allowed}[^;]*got "${value}"`));
    }
    expect(output.trim().split('\n')).toHaveLength(1);
  });

  it('does not touch the ledger of the one that already listens on its port', async () => {
    const dataDir = await folderForTest();
    const first = await bankForTest({ dataDir });
    const { output } = await refusal({ dataDir, env: { SANDBOX_PORT: new URL(first.url).port } });
    expect(output).toContain('EADDRINUSE');
    expect((await first.setUser('still-writing')).status).toBe(200);
  });

  it('ends with its parent, also while it holds a connection', async () => {
    const sandbox = await startSandbox();
    const bank = new BankClient(sandbox.url);
    await bank.setFaults({ id: 't', service: 'users', fault: 'timeout-before' });
    const held = bank.get('/users/anyone').catch(() => 'dropped');
    await expect.poll(() => bank.ledger({ type: 'user.read' })).toHaveLength(1);
    expect(await sandbox.abandon()).toBe(0);
    expect(await held).toBe('dropped');
  });
});
