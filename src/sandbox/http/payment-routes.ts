import { Router, type Request, type Response } from 'express';
import type { Bank } from '../bank.ts';
import { instantText } from '../clock/instant-text.ts';
import type { RequestedFacts } from '../ledger/entry.ts';
import { messageFor } from '../payments/codes.ts';
import type { Accepted } from '../payments/payments-desk.ts';
import type { Payment, PaymentFacts } from '../payments/payment.ts';
import type { Refunded } from '../payments/refunds-desk.ts';
import {
  idempotencyKey,
  paymentRequest,
  refundRequest,
  type PaymentRequest,
} from '../payments/payment-request.ts';
import { Problem } from '../problem.ts';
import { serve } from './service-call.ts';
import { checked } from './validation.ts';

/** A callback that should come early may not hold the answer for ever when the stream is down. */
const EARLY_WAIT_MS = 5000;

function keyOf(req: Pick<Request, 'get'>): string {
  return checked(idempotencyKey, req.get('Idempotency-Key'), 'Idempotency-Key');
}

function paymentView({ facts, answer, ...payment }: Payment): object {
  const code = payment.returnCode;
  return {
    ...facts,
    ...answer,
    status: payment.status,
    ...(code !== undefined && { error_code: code, error_message: messageFor(code), return_code: code }),
    accepted_at: instantText(payment.acceptedAt),
    ...(payment.settlement && { settled_at: instantText(payment.settlement.at) }),
    ...(payment.completedAt !== undefined && { completed_at: instantText(payment.completedAt) }),
  };
}

function requestedFacts(key: string, request: PaymentRequest): RequestedFacts {
  const { user_id, kind, reference_id, method, amount } = request;
  return { idempotency_key: key, user_id, kind, reference_id, method, amount };
}

async function charge(bank: Bank, req: Request, res: Response): Promise<void> {
  const key = keyOf(req);
  const request = checked(paymentRequest, req.body);
  const facts = requestedFacts(key, request);
  let taken: Accepted | undefined;
  await serve(bank, res, {
    service: 'payments',
    key,
    facts,
    requested: (mark) => ({ type: 'payment.requested', ...facts, ...mark }),
    perform: async () => {
      const now = bank.timeline.now();
      taken = bank.payments.accept(key, request, now);
      const { payment, replayed } = taken;
      const hurried = replayed ? undefined : bank.lifecycle.hurry(payment, now);
      if (hurried !== undefined) await bank.publisher.sent(request.user_id, hurried, EARLY_WAIT_MS);
      return { status: 201, body: payment.answer };
    },
    answered: (how) => ({
      type: 'payment.answered',
      ...facts,
      ...(taken && {
        confirmation_id: taken.payment.answer.confirmation_id,
        status: taken.payment.answer.status,
      }),
      replayed: taken?.replayed ?? false,
      ...how,
    }),
    delayMs: () => bank.books.users.find(request.user_id)?.script.answer_delay_ms ?? 0,
  });
}

async function refund(bank: Bank, req: Request<{ id: string }>, res: Response): Promise<void> {
  const key = keyOf(req);
  const request = checked(refundRequest, req.body ?? {});
  const { id } = req.params;
  const facts = bank.books.payments.find(id)?.facts;
  const subject = facts ?? { confirmation_id: id.slice(0, 100) };
  let done: Refunded | undefined;
  await serve(bank, res, {
    service: 'refunds',
    key,
    facts: facts ?? {},
    requested: (mark) => ({ type: 'refund.requested', refund_key: key, ...subject, ...mark }),
    perform: async () => {
      done = bank.refunds.refund(key, id, request, bank.timeline.now());
      if (done.hurried && facts) await bank.publisher.sent(facts.user_id, id, EARLY_WAIT_MS);
      return { status: 201, body: done.answer };
    },
    answered: (how) => ({
      type: 'refund.answered',
      refund_key: key,
      ...subject,
      ...(done && { status: done.answer.status }),
      replayed: done?.replayed ?? false,
      ...how,
    }),
    delayMs: () => (facts && bank.books.users.find(facts.user_id)?.script.answer_delay_ms) ?? 0,
  });
}

interface Found {
  readonly facts: PaymentFacts;
  readonly view: object;
}

function byId(bank: Bank, confirmationId: string): Found | undefined {
  const payment = bank.books.payments.find(confirmationId);
  return payment && { facts: payment.facts, view: paymentView(payment) };
}

/** A refund's key finds the refund, as it was answered: that of an answer that never came is what its caller asks for. */
function byKey(bank: Bank, key: string): Found | undefined {
  const used = bank.books.payments.key(key);
  const found = used && byId(bank, used.confirmationId);
  return found && used.use === 'refund' ? { ...found, view: used.answer } : found;
}

async function lookUp(
  bank: Bank,
  res: Response,
  lookup: string,
  find: () => Found | undefined,
): Promise<void> {
  const facts = find()?.facts;
  await serve(bank, res, {
    service: 'lookups',
    key: lookup,
    facts: facts ?? {},
    perform: () => {
      const found = find();
      if (found === undefined) throw new Problem(404, 'payment_not_found', 'there is no such payment');
      return { status: 200, body: found.view };
    },
    answered: (how, mark) => ({
      type: 'payment.read',
      lookup: lookup.slice(0, 255),
      ...(facts && { user_id: facts.user_id, confirmation_id: facts.confirmation_id }),
      ...mark,
      ...how,
    }),
  });
}

export function paymentRoutes(bank: Bank): Router {
  const router = Router();
  router.post('/payments', (req, res) => charge(bank, req, res));
  router.get('/payments/by-key/:key', (req, res) => {
    const { key } = req.params;
    return lookUp(bank, res, key, () => byKey(bank, key));
  });
  router.get('/payments/:id', (req, res) => {
    const { id } = req.params;
    return lookUp(bank, res, id, () => byId(bank, id));
  });
  router.post('/payments/:id/refund', (req, res) => refund(bank, req, res));
  return router;
}
