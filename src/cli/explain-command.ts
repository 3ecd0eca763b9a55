import type { Command } from 'commander';
import type { Explanation } from '../app/explain.ts';
import { explain } from '../app/explain.ts';
import { readConfig } from '../config/read-config.ts';
import * as sections from '../config/sections.ts';
import { currentSubscription } from '../domain/current-subscription.ts';
import { formatInstant } from '../domain/instant.ts';
import { formatMoney } from '../domain/money.ts';
import type { Subscription, SubscriptionId, UserId } from '../domain/subscription.ts';
import { explanationFigures } from '../figures/explanation-figures.ts';
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
      '[subscription]',
      'the id of a record; when left out, a list of them all, and the one in force is explained',
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
        const subscriptionId =
          record === undefined ? await recordInForce(opened, userId, out) : (record as SubscriptionId);
        const found = await explain({ ...opened.stores, clock: opened.clock }, { userId, subscriptionId });
        if (found === null) throw new Error(`member ${user} has no record ${subscriptionId}`);
        show(found, out);
        if (json) process.stdout.write(`${JSON.stringify(explanationFigures(found))}\n`);
      });
    });
}

async function recordInForce(
  { stores, clock }: Opened,
  userId: UserId,
  out: Terminal,
): Promise<SubscriptionId> {
  const { subscriptions, malformed } = await stores.subscriptions.listByUserID(userId);
  const inForce = currentSubscription(subscriptions, clock.now())?.record ?? malformed[0]?.row;
  if (inForce === undefined) throw new Error(`there is no record of a member ${userId}`);
  if (subscriptions.length > 0) {
    out.table(['record', 'period', 'due', 'amount', 'status'], subscriptions.map(row));
  }
  for (const { message } of malformed) out.line(`${colour('red', '✗')} ${message}`);
  return inForce.subscriptionId;
}

const row = (record: Subscription): string[] => [
  record.subscriptionId,
  record.billingPeriod,
  formatInstant(record.billingDate),
  formatMoney(record.billingAmount),
  record.billingStatus,
];

function show(
  { subscriptionId, record, summary, story, notes, unreadable }: Explanation,
  out: Terminal,
): void {
  const about =
    record === null
      ? ''
      : ` of ${record.billingPeriod}, ${formatMoney(record.billingAmount)}, ${record.billingStatus}`;
  out.line(colour('bold', `record ${subscriptionId}${about}`));
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

/** A time with all of its digits: what follows stands in one column. */
const TIME_WIDTH = '2026-11-16T08:00:00.000000001Z'.length;
