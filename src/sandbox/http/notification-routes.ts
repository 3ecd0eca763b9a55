import { Router } from 'express';
import { z } from 'zod';
import type { Bank } from '../bank.ts';
import { userId } from '../users/user-script.ts';
import { serve } from './service-call.ts';
import { checked } from './validation.ts';

const notification = z.strictObject({
  user_id: userId,
  template: z.string().regex(/^[\w.-]{1,100}$/, 'must be 1 to 100 of A-Z a-z 0-9 _ . -'),
  data: z.record(z.string(), z.unknown()),
  dedupe_key: z.string().regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters'),
});

export function notificationRoutes(bank: Bank): Router {
  const router = Router();
  router.post('/notifications', async (req, res) => {
    // What the message says is nobody's business here: only that it was accepted, and under which key.
    const { user_id, template, dedupe_key } = checked(notification, req.body);
    const named = { user_id, template, dedupe_key };
    await serve(bank, res, {
      service: 'notifications',
      key: dedupe_key,
      facts: { user_id },
      requested: (mark) => ({ type: 'notification.requested', ...named, ...mark }),
      perform: () => {
        const duplicate = bank.books.notifications.has(dedupe_key);
        bank.timeline.record({ type: 'notification.accepted', ...named, duplicate });
        return { status: 202 };
      },
      answered: (how) => ({ type: 'notification.answered', user_id, dedupe_key, ...how }),
    });
  });
  return router;
}
