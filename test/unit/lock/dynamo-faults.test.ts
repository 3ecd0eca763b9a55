import { DynamoDBClient, PutItemCommand, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import {
  cancelled,
  fail,
  injectFaults,
  inTurn,
  loseAnswer,
  pass,
  throttled,
  timedOut,
  type Fault,
} from '../../support/dynamo-faults.ts';
import { nextTurn } from './manual-timer.ts';

/** Stands for the service, and counts what arrives there. */
function service(): { readonly answer: Fault; readonly arrived: () => number } {
  let arrived = 0;
  const answer: Fault = () => {
    arrived += 1;
    return Promise.resolve({ response: {}, output: { $metadata: {} } });
  };
  return { answer, arrived: () => arrived };
}

function clientOf({ answer }: { readonly answer: Fault }, at: 'request' | 'attempt' = 'request') {
  const client = new DynamoDBClient({
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  const faults = injectFaults(client, { at });
  injectFaults(client, { at }).script('PutItemCommand', answer, { times: Infinity });
  const put = (table = 't') => client.send(new PutItemCommand({ TableName: table, Item: {} }));
  return { faults, put };
}

describe('an injected fault', () => {
  it('stops a request before the service sees it, once', async () => {
    const there = service();
    const { faults, put } = clientOf(there);
    const script = faults.script('PutItemCommand', fail(throttled()));
    await expect(put()).rejects.toThrow('rate exceeded');
    expect(there.arrived()).toBe(0);
    await put();
    expect([there.arrived(), script.hits, faults.calls('PutItemCommand')]).toEqual([1, 1, 2]);
  });

  it('loses the answer after the service has done its work', async () => {
    const there = service();
    const { faults, put } = clientOf(there);
    faults.script('PutItemCommand', loseAnswer(timedOut()));
    await expect(put()).rejects.toThrow('timed out');
    expect(there.arrived()).toBe(1);
  });

  it('below the SDK’s retries is retried by the SDK', async () => {
    const there = service();
    const { faults, put } = clientOf(there, 'attempt');
    faults.script('PutItemCommand', loseAnswer(timedOut()));
    await put();
    expect([there.arrived(), faults.calls('PutItemCommand')]).toEqual([2, 2]);
  });

  it('concerns only the requests that fit', async () => {
    const { faults, put } = clientOf(service());
    faults.script('GetItemCommand', fail(throttled()));
    faults.script('PutItemCommand', fail(throttled()), { when: (input) => input['TableName'] === 'other' });
    await put('t');
    await expect(put('other')).rejects.toThrow('rate exceeded');
  });

  it('can be a series, and be cleared or removed', async () => {
    const { faults, put } = clientOf(service());
    faults.script('PutItemCommand', inTurn(fail(timedOut()), pass, fail(throttled())), { times: Infinity });
    await expect(put()).rejects.toThrow('timed out');
    await put();
    await expect(put()).rejects.toThrow('rate exceeded');
    await expect(put()).rejects.toThrow('rate exceeded');
    faults.clear();
    await put();
    faults.script('PutItemCommand', fail(throttled()));
    faults.remove();
    await put();
    expect(faults.calls('PutItemCommand')).toBe(5);
  });

  it.each([
    ['before-send', 0],
    ['after-answer', 1],
  ] as const)('holds a request %s until the gate opens', async (at, arrived) => {
    const there = service();
    const { faults, put } = clientOf(there);
    const gate = faults.hold('PutItemCommand', { at });
    let done = false;
    const putting = put().then(() => (done = true));
    await gate.reached;
    await nextTurn();
    expect([done, there.arrived()]).toEqual([false, arrived]);
    gate.open();
    await putting;
    expect(there.arrived()).toBe(1);
  });

  it('can be a cancelled transaction with its reasons', () => {
    const error = cancelled('None', 'TransactionConflict');
    expect(error).toBeInstanceOf(TransactionCanceledException);
    expect(error).toMatchObject({ CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }] });
  });
});
