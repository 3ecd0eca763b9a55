import { z } from 'zod';
import type { SignalDependencies } from '../../app/take-signal.ts';
import { takeSignal } from '../../app/take-signal.ts';
import type { Signal } from '../../domain/signals.ts';
import type { Caller } from '../../ports/caller.ts';
import { amount, date, name, time, userId } from '../fields.ts';
import { acceptedRequest, viewOfAccepted } from '../request-view.ts';
import type { Answer, Route } from '../route.ts';
import { route } from '../route.ts';

/** The envelope that events have everywhere in the house. */
const envelope = { id: name, source: name, time: time.optional() };

const incomeEvent = z.strictObject({
  ...envelope,
  type: z.literal('income_txn', 'income_txn'),
  data: z.strictObject({
    user_id: userId,
    amount,
    date: date.meta({ description: 'The day of the deposit in America/Chicago', examples: ['2026-11-16'] }),
    account_id: name.optional(),
    transaction_id: name.optional(),
  }),
});

const balanceEvent = z.strictObject({
  ...envelope,
  type: z.literal('new_account', 'new_account'),
  data: z.strictObject({
    user_id: userId,
    account_id: name,
    is_primary: z.boolean('true or false'),
    available_balance: amount.optional(),
  }),
});

const taken = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('ignored'), signal_id: z.string(), reason: z.string() }),
  z.strictObject({
    status: z.literal('accepted'),
    signal_id: z.string(),
    counts_as: z.string().meta({ description: 'The signal that came first, where several came at once' }),
    requests: z.array(acceptedRequest),
  }),
]);

const described = {
  method: 'post',
  tag: 'Signals',
  role: 'service',
  answers: { 202: taken },
  problems: ['malformed-body', 'body-too-large'],
} as const;

export const signalRoutes = (dependencies: SignalDependencies): Route[] => [
  route({
    ...described,
    path: '/events/income',
    summary: 'A deposit was seen on a member’s account',
    description:
      'A deposit above $75 of today (in Chicago) asks for every period that the member still owes, and for a float that is past its due date. Repeated within ten minutes it counts once.',
    body: incomeEvent,
    handle: ({ body: { id, data } }, { caller }) =>
      take(dependencies, caller, {
        kind: 'income',
        signalId: id,
        userId: data.user_id,
        amount: data.amount,
        date: data.date,
      }),
  }),
  route({
    ...described,
    path: '/events/balance',
    summary: 'A member linked a bank account',
    description:
      'A new primary account asks for every period that the member still owes. Repeated within ten minutes it counts once.',
    body: balanceEvent,
    handle: ({ body: { id, data } }, { caller }) =>
      take(dependencies, caller, {
        kind: 'balance',
        signalId: id,
        userId: data.user_id,
        isPrimary: data.is_primary,
      }),
  }),
];

async function take(dependencies: SignalDependencies, caller: Caller, signal: Signal): Promise<Answer> {
  const result = await takeSignal(dependencies, signal, caller.name);
  const { signalId: signal_id, kind } = signal;
  if (result.ignored !== null) {
    dependencies.log.info({ signalId: signal_id, kind, reason: result.ignored }, 'a signal was ignored');
    return { status: 202, body: { status: 'ignored', signal_id, reason: result.ignored } };
  }
  const requests = result.requests.map(viewOfAccepted);
  return { status: 202, body: { status: 'accepted', signal_id, counts_as: result.countsAs, requests } };
}
