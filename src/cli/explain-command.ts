import type { Command } from 'commander';
import type { Explanation } from '../app/explain.ts';
import { explain } from '../app/explain.ts';
import type { FloatExplanation } from '../app/floats/explain-float.ts';
import { explainFloat } from '../app/floats/explain-float.ts';
import { readConfig } from '../config/read-config.ts';
import * as sections from '../config/sections.ts';
import { currentSubscription } from '../domain/current-subscription.ts';
import type { Float, FloatId } from '../domain/floats/float.ts';
import { isOpenFloat } from '../domain/floats/float.ts';
import { floatIdOf, recordIdOf } from '../domain/floats/record-id.ts';
import { formatInstant } from '../domain/instant.ts';
import { formatMoney } from '../domain/money.ts';
import type { Subscription, SubscriptionId, UserId } from '../domain/subscription.ts';
import { explanationFigures } from '../figures/explanation-figures.ts';
import { floatExplanationFigures } from '../figures/float-explanation-figures.ts';
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
      'the id of a record or float; when left out, a list of them all, and the one in force is explained',
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
        if (found === null) throw new Error(`member ${user} has no record ${id}, and no float of that id`);
        show(found, out);
        if (json) process.stdout.write(`${JSON.stringify(figuresOf(found))}\n`);
      });
    });
}

type Found = { readonly record: Explanation } | { readonly float: FloatExplanation };

/** A float is known by its id, and by the name that runs and the audit give it. */
async function explainAny({ stores, clock }: Opened, userId: UserId, id: string): Promise<Found | null> {
  const dependencies = { ...stores, clock };
  const named = floatIdOf(id);
  const subscriptionId = id as SubscriptionId;
  const record = named === null ? await explain(dependencies, { userId, subscriptionId }) : null;
  if (record !== null) return { record };
  const float = await explainFloat(dependencies, { userId, floatId: named ?? (id as FloatId) });
  return float === null ? null : { float };
}

const figuresOf = (found: Found) =>
  'record' in found ? explanationFigures(found.record) : floatExplanationFigures(found.float);

async function idInForce({ stores, clock }: Opened, userId: UserId, out: Terminal): Promise<string> {
  const [{ subscriptions, malformed }, owed] = await Promise.all([
    stores.subscriptions.listByUserID(userId),
    stores.floats.listByUserID(userId),
  ]);
  const { floats } = owed;
  const record = currentSubscription(subscriptions, clock.now())?.record ?? malformed[0]?.row;
  const float = floats.find(({ status }) => isOpenFloat(status)) ?? floats[0];
  if (subscriptions.length > 0) {
    out.table(['record', 'period', 'due', 'amount', 'status'], subscriptions.map(row));
  }
  if (floats.length > 0) out.table(['float', 'due', 'amount', 'status'], floats.map(floatRow));
  for (const { message } of [...malformed, ...owed.malformed]) out.line(`${colour('red', '✗')} ${message}`);
  const inForce = record?.subscriptionId ?? (float === undefined ? undefined : recordIdOf(float.floatId));
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

function show(found: Found, out: Terminal): void {
  const { summary, story, notes, unreadable } = 'record' in found ? found.record : found.float;
  out.line(colour('bold', 'record' in found ? titleOf(found.record) : titleOfFloat(found.float)));
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
