import { describe, expect, it } from 'vitest';
import { dueMembers, dueRecordOf } from '../../../bench/members.ts';
import type { Exchange } from '../../../bench/recording-proxy.ts';
import { Template } from '../../../bench/template.ts';

const [model, other] = dueMembers(2) as [
  ReturnType<typeof dueMembers>[number],
  ReturnType<typeof dueMembers>[number],
];
const attempt = 'ab'.repeat(20);

const sent = (sentMs: number, answeredMs: number, more: Partial<Exchange>): Exchange => ({
  method: 'POST',
  path: '/',
  headers: {},
  body: '',
  answer: '',
  sentMs,
  answeredMs,
  ...more,
});
const toDynamo = (operation: string, input: object): Partial<Exchange> => ({
  headers: { 'x-amz-target': `DynamoDB_20120810.${operation}`, authorization: 'secret' },
  body: JSON.stringify(input),
});

const user = model.bankUser.user_id;
const tables = { BILLING_TABLE: 'b', HISTORY_TABLE: 'h', LOCKS_TABLE: 'l', PIPELINE_TABLE: 'p' };
const template = Template.of(
  [
    sent(
      7,
      8,
      toDynamo('PutItem', {
        TableName: 'p',
        Item: { user, attempt, sub: dueRecordOf(model).subscriptionId },
      }),
    ),
    sent(1, 2, toDynamo('Query', { TableName: 'b', user })),
    sent(3, 5, { method: 'GET', path: `/users/${user}` }),
    sent(4, 6, { method: 'GET', path: `/users/${user}/accounts/primary` }),
    sent(5, 6, toDynamo('GetItem', { TableName: 'p', about: 'the run' })),
    sent(9, 10, {
      path: '/payments',
      headers: { 'idempotency-key': attempt },
      body: `{"user_id":"${user}"}`,
    }),
  ],
  model,
  tables,
);

describe('the floor’s template', () => {
  it('keeps what concerns the member, in the order in which it was sent', () => {
    expect(template.describe()).toBe(
      'Query, GET /users/{user_id} + GET /users/{user_id}/accounts/primary, PutItem, POST /payments',
    );
  });

  it('asks for another member, with the same ids where they were the same, and of the same size', () => {
    const steps = template.for(other);
    const text = JSON.stringify(steps);
    expect(text).not.toContain(user);
    expect(text).not.toContain(attempt);
    expect(text).toContain(dueRecordOf(other).subscriptionId);
    expect(text).toHaveLength(JSON.stringify(template.for(model)).length);
    const [put, post] = [steps[2]![0] as { input: { Item: { attempt: string } } }, steps[3]![0]!];
    expect(post).toMatchObject({ headers: { 'idempotency-key': put.input.Item.attempt } });
  });

  it('never gives two collections the same attempt', () => {
    expect(JSON.stringify(template.for(other))).not.toBe(JSON.stringify(template.for(other)));
  });

  it('goes to other tables', () => {
    const [step] = template.on({ ...tables, BILLING_TABLE: 'other' }).for(other);
    expect(step).toMatchObject([{ input: { TableName: 'other' } }]);
  });
});
