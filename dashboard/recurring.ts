import type { Request, Response, Router } from 'express';
import express from 'express';
import { explainRecurring } from '../src/app/recurring/explain-recurring.ts';
import type { CalendarDate } from '../src/domain/calendar-date.ts';
import { dateOf, parseDate } from '../src/domain/calendar-date.ts';
import type { AccountId, RecurringId } from '../src/domain/recurring/recurring.ts';
import type { RecurringOfAccount } from '../src/ports/recurring.ts';
import type { ConsoleContext } from './console-context.ts';
import { mayAct, queryText, show } from './console-context.ts';
import { noticeOf } from './notices.ts';
import { PageError, notThere } from './page-error.ts';
import { accountPage, recurringPage } from './pages/recurring.ts';

const SECTION = '/recurring';

/** What can be an id at all; the store would refuse others. */
const ID = /^[\x21-\x7e]{1,128}$/;

/** A screenful; the API has them all. */
const RECEIPTS_SHOWN = 25;

/** Pages about what accounts pay for every month. */
export function recurringPages(context: ConsoleContext): Router {
  const router = express.Router();
  router.get('/recurring', (request, response) => overview(context, request, response));
  router.get('/recurring/:accountId', (request, response) => account(context, request, response));
  return router;
}

async function overview(context: ConsoleContext, request: Request, response: Response): Promise<void> {
  const { stores, patience, clock } = context;
  const asked = queryText(request, 'account')?.trim() ?? null;
  if (asked !== null && (await isKnown(context, asked)))
    return response.redirect(303, `${SECTION}/${encodeURIComponent(asked)}`);
  const today = dateOf(clock.now());
  const day = dayIn(request) ?? today;
  const [payments, reminders, waiting, runs] = await Promise.all([
    patience.ask(() => stores.recurring.getDuePaymentsByDate(day, null)),
    patience.ask(() => stores.recurring.getDueRemindersByDate(day, null)),
    patience.ask(() => stores.recurring.dueSince('payments')),
    context.overview.runs(),
  ]);
  const ofThem = runs?.value.filter(({ run }) => run.process.startsWith('recurring-')) ?? null;
  const page = recurringPage({
    asked,
    day,
    today,
    payments,
    reminders,
    waiting,
    runs: ofThem === null ? null : { value: ofThem },
  });
  await show(context, response, { title: 'Recurring', section: SECTION }, page);
}

async function isKnown({ stores, patience }: ConsoleContext, id: string): Promise<boolean> {
  if (!ID.test(id)) return false;
  const found = await patience.inTime(() => stores.recurring.getSubscriptionsByAccount(id as AccountId));
  return isAny(found);
}

const isAny = ({ subscriptions, malformed }: RecurringOfAccount): boolean =>
  subscriptions.length + malformed.length > 0;

function dayIn(request: Request): CalendarDate | null {
  const text = queryText(request, 'day');
  if (text === null) return null;
  const day = parseDate(text);
  if (day === null) throw new PageError(400, 'Not understood', 'There is no such day.', SECTION);
  return day;
}

async function account(context: ConsoleContext, request: Request, response: Response): Promise<void> {
  const { stores, patience, clock } = context;
  const accountId = String(request.params['accountId']) as AccountId;
  if (!ID.test(accountId)) throw notThere('There is no such account.', SECTION);
  const found = await patience.inTime(() => stores.recurring.getSubscriptionsByAccount(accountId));
  if (!isAny(found)) throw notThere('This account pays for nothing.', SECTION);
  const looked = queryText(request, 'subscription') ?? found.subscriptions[0]?.recurringId ?? null;
  const ref = looked === null ? null : { accountId, recurringId: looked as RecurringId };
  const [explanation, receipts] = await Promise.all([
    ref === null ? null : explainRecurring({ ...stores, clock }, ref),
    patience.ask(() =>
      stores.recurring.getReceiptsByAccount(accountId, {
        now: clock.now(),
        limit: RECEIPTS_SHOWN,
        key: null,
      }),
    ),
  ]);
  const view = { accountId, found, receipts, explanation, today: dateOf(clock.now()) };
  const frame = { title: `Account ${accountId}`, section: SECTION, notice: noticeOf(request) } as const;
  await show(context, response, frame, accountPage({ ...view, mayAct: mayAct(response) }));
}
