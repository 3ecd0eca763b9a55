import type { DemoMember } from '../src/demo/population.ts';
import { median } from './figures.ts';
import { dueRecordOf } from './members.ts';
import type { Exchange } from './recording-proxy.ts';
import { operationOf } from './template.ts';

/** How long a step of a collection takes when no other is in flight, seen from between the worker and its servers. */
export interface StepTime {
  readonly step: string;
  readonly ms: number;
}

/** What a collection is made of, in its order. */
const STEPS = [
  'take the lock',
  'read the member’s records',
  'ask for user and account',
  'read what stands against it',
  'write the intent',
  'charge',
  'write the outcome',
  'release the lock',
] as const;
type Step = (typeof STEPS)[number];

/** The time between two steps is the worker’s own, or that of other processes whose turn it was. */
const BETWEEN = 'in the worker, between them';

/** Of each step the median over all members, and of what lies between. */
export function stepTimes(exchanges: readonly Exchange[], members: readonly DemoMember[]): StepTime[] {
  const lives = members.map((member) => lifeOf(exchanges, member));
  const all = (name: Step | typeof BETWEEN): number => median(lives.map((life) => life.get(name) ?? 0));
  return ([...STEPS, BETWEEN] as const).map((step) => ({ step, ms: Math.round(all(step) * 10) / 10 }));
}

function lifeOf(exchanges: readonly Exchange[], member: DemoMember): Map<string, number> {
  const names = [member.bankUser.user_id, dueRecordOf(member).subscriptionId];
  const own = exchanges
    .filter(({ path, body }) => names.some((name) => path.includes(name) || body.includes(name)))
    .sort((a, b) => a.sentMs - b.sentMs);
  const life = new Map<string, number>();
  let transactions = 0;
  let untilMs = own[0]?.sentMs ?? 0;
  for (const exchange of own) {
    if (operationOf(exchange.headers) === 'TransactWriteItems') transactions += 1;
    const step = stepOf(exchange, transactions);
    add(life, BETWEEN, Math.max(0, exchange.sentMs - untilMs));
    // What is asked at the same time lasts as long as its slowest.
    add(life, step, Math.max(0, exchange.answeredMs - Math.max(exchange.sentMs, untilMs)));
    untilMs = Math.max(untilMs, exchange.answeredMs);
  }
  return life;
}

function stepOf({ headers, method }: Exchange, transactions: number): Step {
  switch (operationOf(headers)) {
    case null:
      return method === 'GET' ? 'ask for user and account' : 'charge';
    case 'PutItem':
      return 'take the lock';
    case 'Query':
      return 'read the member’s records';
    case 'BatchGetItem':
      return 'read what stands against it';
    case 'TransactWriteItems':
      return transactions === 1 ? 'write the intent' : 'write the outcome';
    case 'UpdateItem':
      return 'release the lock';
    default:
      throw new Error(`a collection sends no ${operationOf(headers)}: the steps are out of date`);
  }
}

const add = (sums: Map<string, number>, name: string, ms: number): void =>
  void sums.set(name, (sums.get(name) ?? 0) + ms);
