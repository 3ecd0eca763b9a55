import { randomUUID } from 'node:crypto';
import type { Request, Response, Router } from 'express';
import express from 'express';
import { z } from 'zod';
import { Refusal } from '../src/app/desk/refusal.ts';
import { updateRecord } from '../src/app/desk/update-record.ts';
import { replayEvent } from '../src/app/gateways/replay-event.ts';
import { cancelRecurring } from '../src/app/recurring/change-recurring.ts';
import { dropQuarantined, replayQuarantined } from '../src/app/quarantine.ts';
import type { Replay } from '../src/app/quarantine.ts';
import { readAgain } from '../src/app/read-again.ts';
import type { PaymentRefusal } from '../src/app/request-payment.ts';
import { requestPayment } from '../src/app/request-payment.ts';
import * as fields from '../src/api/fields.ts';
import { plusMs } from '../src/domain/instant.ts';
import { COLLECTING_PROCESSES } from '../src/domain/runs.ts';
import type { SubscriptionId, UserId } from '../src/domain/subscription.ts';
import type { FreezeTarget } from '../src/ports/freezes.ts';
import { freezeTargetName, parseFreezeTarget } from '../src/ports/freezes.ts';
import type { StoredSubscription } from '../src/ports/subscriptions.ts';
import type { ConsoleContext } from './console-context.ts';
import { callerIn, formOf, operatorsOnly, show } from './console-context.ts';
import { dollars, time } from './format.ts';
import { html } from './html.ts';
import type { NoticeName } from './notices.ts';
import { PageError, notThere } from './page-error.ts';
import { STOPS } from './pages/freezes.ts';
import type { Confirmation } from './pages/messages.ts';
import { confirmPage, reasonInput } from './pages/messages.ts';
import { laterEvents } from './pages/quarantine.ts';
import { recurringUrl } from './pages/recurring.ts';
import { statusPill } from './pages/users.ts';

/** What operators do. Each is asked about once more before it is done, and is logged with the operator's name. */
export function actRoutes(context: ConsoleContext): Router {
  const router = express.Router();
  const acts: Readonly<Record<string, (request: Request, response: Response) => Promise<void>>> = {
    '/forecast': forecast(context),
    '/freezes': freeze(context),
    '/freezes/lift': lift(context),
    '/quarantine/replay': replay(context),
    '/quarantine/drop': drop(context),
    '/gateways/replay': replayGatewayEvent(context),
    '/recurring/cancel': cancelRecurringPayment(context),
    '/users/:userId/pay': pay(context),
    '/users/:userId/waive': waive(context),
  };
  for (const [path, act] of Object.entries(acts)) router.post(path, operatorsOnly, act);
  return router;
}

type Act = (request: Request, response: Response) => Promise<void>;

const confirmed = z.literal('yes').optional();

/** Nothing is done yet. */
const confirm = (context: ConsoleContext, response: Response, confirmation: Confirmation): Promise<void> =>
  show(context, response, { title: confirmation.title, section: null }, confirmPage(confirmation));

const goTo = (response: Response, path: string, done: NoticeName): void =>
  response.redirect(303, `${path}${path.includes('?') ? '&' : '?'}done=${done}`);

function trail({ log }: ConsoleContext, response: Response, act: string, what: object): void {
  log.info({ by: callerIn(response).name, act, ...what }, 'an operator acted');
}

const forecast =
  (context: ConsoleContext): Act =>
  async (request, response) => {
    const { process } = formOf(request, z.object({ process: z.enum(COLLECTING_PROCESSES) }), '/forecast');
    context.forecasts.start(process);
    trail(context, response, 'forecast', { process });
    goTo(response, '/forecast', 'forecast');
  };

const HOUR_MS = 3_600_000;

const freezeForm = z.object({
  scope: z.enum(['global', 'pinless', 'ach', 'user']),
  user_id: z.string().trim().default(''),
  hours: z
    .string()
    .trim()
    .regex(/^\d{0,4}$/, 'a number of hours, or nothing')
    .default(''),
  reason: fields.reason,
  confirmed,
});

const freeze =
  (context: ConsoleContext): Act =>
  async (request, response) => {
    const form = formOf(request, freezeForm, '/freezes');
    const target = targetOf(form);
    const back = await backFrom(context, target);
    const at = context.clock.now();
    const until = Number(form.hours) > 0 ? plusMs(at, Number(form.hours) * HOUR_MS) : null;
    if (form.confirmed === undefined) {
      const { scope, user_id, hours, reason } = form;
      return confirm(context, response, {
        title: `Freeze ${freezeTargetName(target)}?`,
        action: '/freezes',
        text: html`<p>${STOPS[target.scope]}</p>
          <p>Until ${until === null ? 'somebody lifts it' : time(until)}, because: ${reason}</p>`,
        fields: { scope, user_id, hours, reason },
        button: 'Freeze',
        back,
      });
    }
    const who = callerIn(response).name;
    await context.stores.freezes.freeze({ target, reason: form.reason, who, at, until });
    trail(context, response, 'freeze', { target: freezeTargetName(target) });
    goTo(response, back, 'frozen');
  };

function targetOf({ scope, user_id }: z.output<typeof freezeForm>): FreezeTarget {
  if (scope !== 'user' && user_id !== '')
    throw new PageError(
      400,
      'Not understood',
      'A member is named: choose “One member”, or leave the name out.',
      '/freezes',
    );
  const target = parseFreezeTarget(
    scope === 'user' ? `user:${fields.userId.safeParse(user_id).data ?? ''}` : scope,
  );
  if (target === null)
    throw new PageError(400, 'Not understood', 'Name the member that is to be frozen.', '/freezes');
  return target;
}

/** A user without records has no page: their freeze is seen in the list. */
async function backFrom({ stores, patience }: ConsoleContext, target: FreezeTarget): Promise<string> {
  if (target.scope !== 'user') return '/freezes';
  const { subscriptions, malformed } = await patience.inTime(() =>
    stores.subscriptions.listByUserID(target.userId),
  );
  return subscriptions.length + malformed.length === 0
    ? '/freezes'
    : `/users/${encodeURIComponent(target.userId)}`;
}

const liftForm = z.object({ target: z.string().max(200), confirmed });

const lift =
  (context: ConsoleContext): Act =>
  async (request, response) => {
    const form = formOf(request, liftForm, '/freezes');
    const target = parseFreezeTarget(form.target);
    if (target === null) throw new PageError(400, 'Not understood', 'There is no such freeze.', '/freezes');
    if (form.confirmed === undefined)
      return confirm(context, response, {
        title: `Lift the freeze of ${form.target}?`,
        action: '/freezes/lift',
        text: html`<p>What it has deferred is collected by the next runs.</p>`,
        fields: { target: form.target },
        button: 'Lift',
        back: '/freezes',
      });
    const by = { who: callerIn(response).name, at: context.clock.now() };
    const lifted = await context.stores.freezes.unfreeze(target, by);
    trail(context, response, 'unfreeze', { target: form.target, lifted });
    goTo(response, '/freezes', lifted ? 'lifted' : 'not-frozen');
  };

const replayForm = z.object({ id: fields.name, force: z.literal('yes').optional(), confirmed });

const replay =
  (context: ConsoleContext): Act =>
  async (request, response) => {
    const { id, force, confirmed: isConfirmed } = formOf(request, replayForm, '/quarantine');
    const question = {
      action: '/quarantine/replay',
      fields: { id },
      button: 'Replay',
      back: '/quarantine',
    };
    if (isConfirmed === undefined)
      return confirm(context, response, {
        ...question,
        title: 'Replay this event?',
        text: html`<p>
            It goes back into its member’s inbox and is applied like one that has just come. Do so after what
            stood against it was mended.
          </p>
          <p class="id">${id}</p>`,
      });
    const { stores, queues, clock, log, owned } = context;
    const result = await replayQuarantined(
      {
        ...stores,
        clock,
        log,
        readAgain: (item) => readAgain(item, { owned, receivedAt: clock.now() }),
        enqueue: queues.ensureEvent.bind(queues),
      },
      id,
      { force: force === 'yes' },
    );
    if (result.result === 'overtaken')
      return confirm(context, response, {
        ...question,
        title: 'Replay it out of order?',
        text: html`${laterEvents(result.later)}
          <p>Replayed now, this event has the last word over them.</p>`,
        fields: { id, force: 'yes' },
        button: 'Replay all the same',
      });
    trail(context, response, 'replay', { quarantineId: id, result: result.result, force: force === 'yes' });
    goTo(response, '/quarantine', replayNotice(result));
  };

function replayNotice(result: Exclude<Replay, { readonly result: 'overtaken' }>): NoticeName {
  switch (result.result) {
    case 'replayed':
      return result.handedOver ? 'replayed' : 'replayed-late';
    case 'unknown':
      throw notThere('Nothing of that name is in quarantine any more.', '/quarantine');
    case 'unreadable':
      throw new PageError(
        409,
        'Not readable',
        `It still cannot be read as an event: ${result.reason}`,
        '/quarantine',
      );
    case 'dealt-with':
      throw new PageError(
        409,
        'Dealt with',
        'The same event came once more and was applied or dropped then: this one can only be dropped.',
        '/quarantine',
      );
    case 'busy':
      throw new PageError(
        409,
        'Busy',
        'Somebody works on this member right now. Try again in a moment.',
        '/quarantine',
      );
  }
}

const dropForm = z.object({ id: fields.name, reason: fields.reason.optional(), confirmed });

const drop =
  (context: ConsoleContext): Act =>
  async (request, response) => {
    const { id, reason, confirmed: isConfirmed } = formOf(request, dropForm, '/quarantine');
    if (isConfirmed === undefined || reason === undefined)
      return confirm(context, response, {
        title: 'Drop this event?',
        action: '/quarantine/drop',
        text: html`<p>
            It is never applied, also when it is delivered again. Who dropped it and why stays on record.
          </p>
          <p class="id">${id}</p>`,
        fields: { id },
        inputs: reasonInput,
        button: 'Drop',
        back: '/quarantine',
      });
    const { stores, clock } = context;
    const { result } = await dropQuarantined({ ...stores, clock }, id, {
      who: callerIn(response).name,
      reason,
    });
    trail(context, response, 'drop', { quarantineId: id, result });
    if (result === 'unknown')
      throw notThere('Nothing of that name is in quarantine any more.', '/quarantine');
    goTo(response, '/quarantine', 'dropped');
  };

/** Longer than other ids. */
const gatewayReplayForm = z.object({ id: z.string().min(1).max(400), confirmed });

const replayGatewayEvent =
  (context: ConsoleContext): Act =>
  async (request, response) => {
    const { id, confirmed: isConfirmed } = formOf(request, gatewayReplayForm, '/gateways');
    const back = `/gateways/events/${encodeURIComponent(id)}`;
    if (isConfirmed === undefined)
      return confirm(context, response, {
        title: 'Replay this event?',
        action: '/gateways/replay',
        text: html`<p>
            It is applied as if it had just come, and keeps its place in the order: it undoes nothing that
            came after it. Do so after what stood against it is gone.
          </p>
          <p class="id">${id}</p>`,
        fields: { id },
        button: 'Replay',
        back,
      });
    const { stores, queues, clock, log } = context;
    const enqueueGatewayEvent = queues.ensureGatewayEvent.bind(queues);
    const replayed = await replayEvent({ ...stores, clock, log, enqueueGatewayEvent }, id);
    trail(context, response, 'replay-gateway-event', { eventId: id, result: replayed.result });
    if (replayed.result === 'unknown') throw notThere('There is no such event.', '/gateways');
    goTo(response, back, replayed.handedOver ? 'event-replayed' : 'event-replayed-late');
  };

const cancelForm = z.object({ account: fields.accountId, subscription: fields.recurringId, confirmed });

const cancelRecurringPayment =
  (context: ConsoleContext): Act =>
  async (request, response) => {
    const form = formOf(request, cancelForm, '/recurring');
    const back = recurringUrl(form.account, form.subscription);
    if (form.confirmed === undefined)
      return confirm(context, response, {
        title: 'End this recurring payment?',
        action: '/recurring/cancel',
        text: html`<p>
            Nothing is charged from now on. It cannot be taken back: the account begins a new one if it wants
            to go on. A charge that was sent and has no answer yet is still recorded.
          </p>
          <p class="id">${form.subscription}</p>`,
        fields: { account: form.account, subscription: form.subscription },
        button: 'End it',
        back,
      });
    const { stores, owned, clock } = context;
    const ref = { accountId: form.account, recurringId: form.subscription };
    const by = callerIn(response).name;
    await refusedOnPage(cancelRecurring({ ...stores, owned, clock }, ref, by), back);
    trail(context, response, 'cancel-recurring', {
      accountId: form.account,
      subscriptionId: form.subscription,
    });
    goTo(response, back, 'recurring-cancelled');
  };

const payForm = z.object({
  record: fields.subscriptionId,
  /** Made with the question, so that a button pressed twice is one order. */
  request: z
    .string()
    .regex(/^console\.[0-9a-f-]{36}$/, 'a request')
    .optional(),
  confirmed,
});

function memberIn(request: Request): { readonly userId: UserId; readonly back: string } {
  const user = fields.userId.safeParse(request.params['userId']);
  if (!user.success) throw notThere('There is no such member.', '/users');
  return { userId: user.data, back: `/users/${encodeURIComponent(user.data)}` };
}

async function recordOf(
  { stores }: ConsoleContext,
  userId: UserId,
  wanted: SubscriptionId,
): Promise<StoredSubscription> {
  const { subscriptions } = await stores.subscriptions.listByUserID(userId);
  const record = subscriptions.find(({ subscriptionId }) => subscriptionId === wanted);
  if (record === undefined)
    throw notThere('This member has no such record.', `/users/${encodeURIComponent(userId)}`);
  return record;
}

const pay =
  (context: ConsoleContext): Act =>
  async (request, response) => {
    const { stores, queues, owned, clock, log } = context;
    const { userId, back } = memberIn(request);
    const form = formOf(request, payForm, back);
    if (form.confirmed === undefined || form.request === undefined) {
      const record = await recordOf(context, userId, form.record);
      return confirm(context, response, {
        title: `Charge ${dollars(record.billingAmount)}?`,
        action: `${back}/pay`,
        text: html`<p>
          Charges the debit card of member <span class="id">${userId}</span> for the period of
          ${time(record.billingDate)}, now ${statusPill(record.billingStatus)}. A decline leaves the status.
        </p>`,
        fields: { record: form.record, request: `console.${randomUUID()}` },
        button: `Charge ${dollars(record.billingAmount)}`,
        back,
      });
    }
    const result = await requestPayment(
      { ...stores, owned, clock, log, enqueue: queues.addRequest.bind(queues) },
      { requestId: form.request, userId, subscriptionId: form.record, by: callerIn(response).name },
    );
    if ('refused' in result) throw new PageError(409, 'Not charged', refusalText(result.refused), back);
    trail(context, response, 'pay', { requestId: form.request, subscriptionId: form.record });
    const query = new URLSearchParams({ record: form.record, request: form.request });
    response.redirect(303, `${back}?${query.toString()}`);
  };

function refusalText(refusal: PaymentRefusal): string {
  switch (refusal.reason) {
    case 'unknown-record':
      return 'This member has no such record.';
    case 'unreadable':
      return 'A row of this member cannot be read. Nothing is charged until it is mended.';
    case 'not-owned':
      return 'The other service bills this member.';
    case 'not-payable':
      return `The record is ${refusal.status}.`;
    case 'pending-cancellation':
      return 'The member has cancelled: this period will not be charged.';
    case 'account-closed':
      return 'The account was closed: this period will not be charged.';
    case 'attempt-open':
      return 'A charge for this record has no answer yet: no other may begin.';
    case 'frozen':
      return refusal.scope === 'user' ? 'This member is frozen.' : 'Charging is frozen.';
  }
}

const waiveForm = z.object({ record: fields.subscriptionId, reason: fields.reason.optional(), confirmed });

const waive =
  (context: ConsoleContext): Act =>
  async (request, response) => {
    const { stores, owned, tiers, clock } = context;
    const { userId, back } = memberIn(request);
    const { record: subscriptionId, reason, confirmed: isConfirmed } = formOf(request, waiveForm, back);
    if (isConfirmed === undefined || reason === undefined) {
      const record = await recordOf(context, userId, subscriptionId);
      return confirm(context, response, {
        title: `Waive ${dollars(record.billingAmount)}?`,
        action: `${back}/waive`,
        text: html`<p>
          Lets member <span class="id">${userId}</span> off the period of ${time(record.billingDate)}, now
          ${statusPill(record.billingStatus)}. The next period comes all the same.
        </p>`,
        fields: { record: subscriptionId },
        inputs: reasonInput,
        button: 'Waive',
        back,
      });
    }
    const by = { who: callerIn(response).name, reason };
    const update = { status: 'WAIVED', billingDate: null, pauseDurationMonths: null } as const;
    await refusedOnPage(
      updateRecord({ ...stores, owned, tiers, clock }, { ...update, userId, subscriptionId, by }),
      back,
    );
    trail(context, response, 'waive', { subscriptionId });
    goTo(response, `${back}?${new URLSearchParams({ record: subscriptionId }).toString()}`, 'waived');
  };

async function refusedOnPage<T>(work: Promise<T>, back: string): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new PageError(409, 'Not changed', `Nothing was changed: ${error.message}.`, back);
  }
}
