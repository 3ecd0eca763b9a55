import { Router, type Response } from 'express';
import { z } from 'zod';
import type { Bank } from '../bank.ts';
import { advanceClock, clockAdvance, clockSetting, setClock } from '../clock/clock-change.ts';
import { ClockWatch } from '../clock/clock-watch.ts';
import { checked } from './validation.ts';

const LONGEST_WAIT_MS = 60_000;
/** How long a change of the clock waits for its callbacks to reach the stream. */
const PUBLISH_WAIT_MS = 10_000;

const wholeNumber = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a whole number')
  .transform(Number);
const clockQuery = z.strictObject({
  after: wholeNumber.optional(),
  wait_ms: wholeNumber.pipe(z.number().max(LONGEST_WAIT_MS)).default(30_000),
});

async function answerOncePublished(bank: Bank, res: Response): Promise<void> {
  const before = bank.ledger.lastSeq;
  bank.timeline.now();
  const happened = bank.ledger.lastSeq - before;
  await bank.publisher.drained(PUBLISH_WAIT_MS);
  const { pending, state, last_error } = bank.publisher.report();
  const callbacks = pending === 0 ? { pending } : { pending, state, last_error };
  res.json({ ...bank.books.clock.reading(), entries: happened, callbacks });
}

export function clockRoutes(bank: Bank): Router {
  const router = Router();
  const watch = new ClockWatch(bank.journal);
  router.get('/clock', async (req, res) => {
    const { after, wait_ms } = checked(clockQuery, req.query, 'query');
    const gone = new AbortController();
    res.once('close', () => gone.abort());
    if (after !== undefined) await watch.changedFrom(after, wait_ms, gone.signal);
    res.json(bank.books.clock.reading());
  });
  router.put('/clock', async (req, res) => {
    const setting = checked(clockSetting, req.body);
    setClock(bank.journal, bank.timeline.now(), setting);
    await answerOncePublished(bank, res);
  });
  router.post('/clock/advance', async (req, res) => {
    const { by } = checked(clockAdvance, req.body);
    advanceClock(bank.journal, bank.timeline.now(), by);
    await answerOncePublished(bank, res);
  });
  return router;
}
