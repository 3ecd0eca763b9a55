import type { Command } from 'commander';
import type { Explanation } from '../app/explain.ts';
import { explain } from '../app/explain.ts';
import type { FloatExplanation } from '../app/floats/explain-float.ts';
import { explainFloat } from '../app/floats/explain-float.ts';
import type { RecurringExplanation } from '../app/recurring/explain-recurring.ts';
import { explainRecurring } from '../app/recurring/explain-recurring.ts';
import { readConfig } from '../config/read-config.ts';
import * as sections from '../config/sections.ts';
import { currentSubscription } from '../domain/current-subscription.ts';
import type { Float, FloatId } from '../domain/floats/float.ts';
import { isOpenFloat } from '../domain/floats/float.ts';
import { floatIdOf, recordIdOf } from '../domain/floats/record-id.ts';
import { formatInstant } from '../domain/instant.ts';
import { formatMoney } from '../domain/money.ts';
import { recurringOf, recurringRecordId } from '../domain/recurring/record-id.ts';
import type { AccountId, RecurringId, RecurringSubscription } from '../domain/recurring/recurring.ts';
import type { Subscription, SubscriptionId, UserId } from '../domain/subscription.ts';
import { explanationFigures } from '../figures/explanation-figures.ts';
import { floatExplanationFigures } from '../figures/float-explanation-figures.ts';
import { recurringExplanationFigures } from '../figures/recurring-explanation-figures.ts';
import { nonEmpty } from './arguments.ts';
import type { CliContext } from './context.ts';
import type { Terminal } from './terminal.ts';
import { colour, terminal } from './terminal.ts';
import type { Opened } from './with-stores.ts';
import { withStores } from './with-stores.ts';

export function addExplainCommand(program: Command, { environment, target }: CliContext): void {
  program
    .command('explain')
    .description('say why a member was or was not charged: each decision with its reason, oldest first')
    .argument('<user>', 'the id of the member', nonEmpty)
    .argument(
      '[record]',
      'the id of a record, float or recurring payment; when left out, a list of them all, and the one in force is explained',
      nonEmpty,
    )
    .option('--json', 'the last line on standard output is one JSON object', false)
    .action((user: string, record: string | undefined, { json }: { json: boolean }) => {
      const out = terminal(json ? process.stderr : undefined);
      const config = readConfig(environment, {
        dynamodb: sections.dynamodb,
        lock: sections.lock,
        janitor: sections.janitor,
        clock: sections.clock,
      });
      return withStores(config, async (opened) => {
        out.line(target);
        const userId = user as UserId;
        const id = record ?? (await idInForce(opened, userId, out));
        const found = await explainAny(opened, userId, id);
        if (found === null)
          throw new Error(`member ${user} has no record ${id}, and no float or recurring payment of that id`);
        show(found, out);
        if (json) process.stdout.write(`${JSON.stringify(figuresOf(found))}\n`);
      });
    });
}

type Found =
  | { readonly record: Explanation }
  | { readonly float: FloatExplanation }
  | { readonly recurring: RecurringExplanation };

/** Floats and recurring payments are known by their id, and by the name that runs and the audit give them. */
async function explainAny({ stores, clock }: Opened, userId: UserId, id: string): Promise<Found | null> {
  const dependencies = { ...stores, clock };
  const payment = recurringOf(id);
  const named = floatIdOf(id);
  const subscriptionId = id as SubscriptionId;
  const isRecord = named === null && payment === null;
  const record = isRecord ? await explain(dependencies, { userId, subscriptionId }) : null;
  if (record !== null) return { record };
  const float = await explainFloat(dependencies, { userId, floatId: named ?? (id as FloatId) });
  if (float !== null) return { float };
  const accountId = userId as string as AccountId;
  const recurringId = payment?.recurringId ?? (id as RecurringId);
  const recurring = await explainRecurring(dependencies, { accountId, recurringId });
  return recurring === null ? null : { recurring };
}

function figuresOf(found: Found) {
  if ('record' in found) return explanationFigures(found.record);
  return 'float' in found
    ? floatExplanationFigures(found.float)
    : recurringExplanationFigures(found.recurring);
}

async function idInForce({ stores, clock }: Opened, userId: UserId, out: Terminal): Promise<string> {
  const [{ subscriptions, malformed }, owed, paid] = await Promise.all([
    stores.subscriptions.listByUserID(userId),
    stores.floats.listByUserID(userId),
    stores.recurring.getSubscriptionsByAccount(userId as string as AccountId),
  ]);
  const { floats } = owed;
  const record = currentSubscription(subscriptions, clock.now())?.record ?? malformed[0]?.row;
  const float = floats.find(({ status }) => isOpenFloat(status)) ?? floats[0];
  if (subscriptions.length > 0) {
    out.table(['record', 'period', 'due', 'amount', 'status'], subscriptions.map(row));
  }
  if (floats.length > 0) out.table(['float', 'due', 'amount', 'status'], floats.map(floatRow));
  const { subscriptions: recurring } = paid;
  if (recurring.length > 0)
    out.table(['recurring payment', 'SKU', 'next', 'amount', 'status'], recurring.map(recurringRow));
  for (const { message } of [...malformed, ...owed.malformed, ...paid.malformed])
    out.line(`${colour('red', '✗')} ${message}`);
  const [payment] = recurring;
  const inForce =
    record?.subscriptionId ??
    (float === undefined ? undefined : recordIdOf(float.floatId)) ??
    (payment === undefined ? undefined : recurringRecordId(payment));
  if (inForce === undefined) throw new Error(`there is no record of a member ${userId}`);
  return inForce;
}

const row = (record: Subscription): string[] => [
  record.subscriptionId,
  record.billingPeriod,
  formatInstant(record.billingDate),
  formatMoney(record.billingAmount),
  record.billingStatus,
];

const floatRow = ({ floatId, dueDate, amount, status }: Float): string[] => [
  recordIdOf(floatId),
  dueDate,
  formatMoney(amount),
  status,
];

const recurringRow = (one: RecurringSubscription): string[] => [
  recurringRecordId(one),
  one.sku,
  one.nextPaymentDate ?? '–',
  formatMoney(one.paymentAmount),
  one.status,
];

function show(found: Found, out: Terminal): void {
  const { summary, story, notes, unreadable } = explanationIn(found);
  out.line(colour('bold', titleIn(found)));
  out.line(summary);
  out.line();
  for (const { at, text } of story)
    out.line(`${colour('dim', formatInstant(at).padEnd(TIME_WIDTH))}  ${text}`);
  if (story.length === 0) out.line('nothing has happened to it yet');
  out.line();
  for (const note of notes) out.line(`${colour('yellow', '!')} ${note}`);
  if (notes.length === 0) out.line('nothing stands in its way now');
  for (const message of unreadable) out.line(`${colour('red', '✗')} cannot be read: ${message}`);
}

function explanationIn(found: Found) {
  if ('record' in found) return found.record;
  return 'float' in found ? found.float : found.recurring;
}

function titleIn(found: Found): string {
  if ('record' in found) return titleOf(found.record);
  return 'float' in found ? titleOfFloat(found.float) : titleOfRecurring(found.recurring);
}

function titleOfRecurring({ recurringId, subscription }: RecurringExplanation): string {
  const about =
    subscription === null
      ? ''
      : `, ${formatMoney(subscription.paymentAmount)} for ${subscription.sku} on day ${subscription.paymentDay}, ${subscription.status}`;
  return `recurring payment ${recurringId}${about}`;
}

function titleOf({ subscriptionId, record }: Explanation): string {
  const about =
    record === null
      ? ''
      : ` of ${record.billingPeriod}, ${formatMoney(record.billingAmount)}, ${record.billingStatus}`;
  return `record ${subscriptionId}${about}`;
}

function titleOfFloat({ floatId, float }: FloatExplanation): string {
  const about =
    float === null ? '' : `, ${formatMoney(float.amount)}, due on ${float.dueDate}, ${float.status}`;
  return `float ${floatId}${about}`;
}

/** A time with all of its digits: what follows stands in one column. */
const TIME_WIDTH = '2026-11-16T08:00:00.000000001Z'.length;
