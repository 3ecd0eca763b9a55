import { Router } from 'express';
import { z } from 'zod';
import type { Bank } from '../bank.ts';
import type { Instant } from '../calendar/new-york-time.ts';
import { instantText } from '../clock/instant-text.ts';
import { creditReturnEvent } from '../callbacks/callback-event.ts';
import { faultDialSettings } from '../faults/fault-rule.ts';
import type { EntryBody } from '../ledger/entry.ts';
import { creditReturn } from '../payments/payment-request.ts';
import { moneyText } from '../money.ts';
import { Problem } from '../problem.ts';
import { manyUserScripts, userId, userScript, type UserScript } from '../users/user-script.ts';
import { checked } from './validation.ts';

/** A bare list is short for `{rules: list}`. */
const dialBody = z.preprocess(
  (body) => (Array.isArray(body) ? { rules: body as unknown[] } : body),
  faultDialSettings,
);

function userSet(user_id: string, script: UserScript, now: Instant): EntryBody {
  const at = script.balance.at ?? instantText(now);
  return { type: 'user.set', user_id, script: { ...script, balance: { ...script.balance, at } } };
}

function userView(bank: Bank, user_id: string): object {
  const user = bank.books.users.find(user_id);
  if (user === undefined) throw new Problem(404, 'user_not_found', 'there is no such user');
  const available_balance = moneyText(user.balance(bank.timeline.now()));
  return { user_id, ...user.script, status: user.status, available_balance };
}

function userScripts(bank: Bank): Router {
  const router = Router();
  router.put('/sandbox/users/:id', (req, res) => {
    const id = checked(userId, req.params.id, 'user_id');
    const script = checked(userScript, req.body);
    const now = bank.timeline.now();
    bank.journal.record(now, userSet(id, script, now));
    res.json(userView(bank, id));
  });
  router.post('/sandbox/users', (req, res) => {
    const many = checked(manyUserScripts, req.body);
    const now = bank.timeline.now();
    bank.journal.record(now, ...many.map(({ user_id, ...script }) => userSet(user_id, script, now)));
    res.json({ users: many.length });
  });
  router.get('/sandbox/users/:id', (req, res) => {
    res.json(userView(bank, req.params.id));
  });
  return router;
}

/** What operators and tests turn: scripts, the fault dial, advances that come back. None of it exists at a real bank. */
export function operatorRoutes(bank: Bank): Router {
  const router = Router();
  router.use(userScripts(bank));
  router.get('/sandbox/faults', (_req, res) => {
    res.json(bank.books.faults.settings());
  });
  router.put('/sandbox/faults', (req, res) => {
    bank.timeline.record({ type: 'fault.set', ...checked(dialBody, req.body) });
    res.json(bank.books.faults.settings());
  });
  router.delete('/sandbox/faults', (_req, res) => {
    bank.timeline.record({ type: 'fault.set', seed: 'sandbox', rules: [] });
    res.status(204).end();
  });
  router.post('/sandbox/credit-returns', (req, res) => {
    const advance = checked(creditReturn, req.body);
    const { user_id, float_id: reference_id } = advance;
    const event = creditReturnEvent(advance, bank.timeline.now());
    const callback_id = `${event.id}/${event.type}`;
    bank.timeline.record({ type: 'callback.queued', callback_id, user_id, reference_id, event });
    res.status(201).json(event);
  });
  router.get('/sandbox/callbacks', (_req, res) => {
    res.json(bank.publisher.report());
  });
  return router;
}
