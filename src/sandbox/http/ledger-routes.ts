import { Router } from 'express';
import { z } from 'zod';
import type { Bank } from '../bank.ts';
import { ledgerPage } from '../ledger/ledger-page.ts';
import { checked } from './validation.ts';

const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(Number);
const text = z.string().min(1).max(255).optional();

const pageQuery = z.strictObject({
  after: wholeNumber.default(0),
  limit: wholeNumber.pipe(z.number().min(1).max(5000)).default(1000),
  user_id: text,
  reference_id: text,
  confirmation_id: text,
  idempotency_key: text,
  type: text,
  answer: text,
  effect: z.enum(['debit', 'credit']).optional(),
});

function present(filters: Record<string, string | undefined>): Record<string, string> {
  const entries = Object.entries(filters);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

export function ledgerRoutes(bank: Bank): Router {
  const router = Router();
  router.get('/ledger', async (req, res) => {
    const { after, limit, ...filters } = checked(pageQuery, req.query, 'query');
    bank.timeline.now();
    const { lines, next, last } = await ledgerPage(bank.ledger, { after, limit, where: present(filters) });
    // The lines are JSON already; parsing them only to write them again would cost more than reading them.
    res.type('application/json');
    res.send(`{"entries":[${lines.join(',')}],"next":${JSON.stringify(next)},"last":${last}}`);
  });
  return router;
}
