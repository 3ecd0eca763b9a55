import { expect, it } from 'vitest';
import { dueMembers } from '../../../bench/members.ts';
import type { Exchange } from '../../../bench/recording-proxy.ts';
import { stepTimes } from '../../../bench/steps.ts';

const [member, other] = dueMembers(2) as [
  ReturnType<typeof dueMembers>[number],
  ReturnType<typeof dueMembers>[number],
];
const exchange = (sentMs: number, answeredMs: number, more: Partial<Exchange>): Exchange => ({
  method: 'POST',
  path: '/',
  headers: {},
  body: member.bankUser.user_id,
  answer: '',
  sentMs,
  answeredMs,
  ...more,
});
const asks = (operation: string): Partial<Exchange> => ({
  headers: { 'x-amz-target': `DynamoDB_20120810.${operation}` },
});
const get: Partial<Exchange> = { method: 'GET', path: `/users/${member.bankUser.user_id}`, body: '' };

const life = [
  exchange(0, 2, asks('PutItem')),
  exchange(3, 5, asks('Query')),
  exchange(5, 9, get),
  exchange(5, 11, get),
  exchange(11, 12, asks('BatchGetItem')),
  exchange(13, 20, asks('TransactWriteItems')),
  exchange(20, 30, {}),
  exchange(31, 39, asks('TransactWriteItems')),
  exchange(39, 41, asks('UpdateItem')),
];

it('a collection is followed through its steps, and what lies between them is the worker’s', () => {
  const times = Object.fromEntries(stepTimes(life, [member]).map(({ step, ms }) => [step, ms]));
  expect(times).toEqual({
    'take the lock': 2,
    'read the member’s records': 2,
    'ask for user and account': 6,
    'read what stands against it': 1,
    'write the intent': 7,
    charge: 10,
    'write the outcome': 8,
    'release the lock': 2,
    'in the worker, between them': 3,
  });
  expect(Object.values(times).reduce((sum, ms) => sum + ms)).toBe(41);
});

it('each member has a life of their own', () => {
  const slow = life.map((one) => ({
    ...one,
    path: one.path.replace(member.bankUser.user_id, other.bankUser.user_id),
    body: one.body.replace(member.bankUser.user_id, other.bankUser.user_id),
    sentMs: one.sentMs * 3,
    answeredMs: one.answeredMs * 3,
  }));
  const [lock] = stepTimes([...slow, ...life], [member, other]);
  expect(lock).toEqual({ step: 'take the lock', ms: 4 });
});

it('a step that nobody knows is not hidden in another', () => {
  expect(() => stepTimes([exchange(0, 1, asks('Scan'))], [member])).toThrow('the steps are out of date');
});
