import { randomBytes, randomUUID } from 'node:crypto';
import type { DemoMember } from '../src/demo/population.ts';
import { dueRecordOf } from './members.ts';
import type { Exchange } from './recording-proxy.ts';

/** One request of a collection, as it goes over the wire. */
export type Request =
  | { readonly to: 'dynamodb'; readonly operation: string; readonly input: unknown }
  | {
      readonly to: 'bank';
      readonly method: string;
      readonly path: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string | null;
    };

/** Requests one after the other; those of one step at the same time. */
export type Steps = readonly (readonly Request[])[];

/** The environment's names of the tables, and whatever else stands there. */
type Tables = Readonly<Record<string, string>>;

/**
 * What a worker sent for one collection, to be sent again for other members. Taken down from life, so that the floor can
 * do neither less nor more than the pipeline does, today or after a change.
 */
export class Template {
  private readonly text: string;
  private readonly member: DemoMember;
  private readonly tables: Tables;
  /** Made for one collection only: attempts, owners and versions of the lock, transactions, the next period. */
  private readonly ids: readonly string[];

  private constructor(text: string, member: DemoMember, tables: Tables) {
    this.text = text;
    this.member = member;
    this.tables = tables;
    const known = new Set<string>(namesOf(member));
    const found = new Set(this.text.match(IDS) ?? []);
    this.ids = [...found].filter((id) => !known.has(id));
  }

  static of(exchanges: readonly Exchange[], member: DemoMember, tables: Tables): Template {
    const names = [member.bankUser.user_id, dueRecordOf(member).subscriptionId];
    const about = exchanges
      .filter(({ path, body }) => names.some((name) => path.includes(name) || body.includes(name)))
      .sort((a, b) => a.sentMs - b.sentMs);
    return new Template(JSON.stringify(inSteps(about)), member, tables);
  }

  /** The same requests to other tables. */
  on(tables: Tables): Template {
    const text = TABLES.reduce(
      (now, table) => now.replaceAll(`"${this.tables[table]}"`, `"${tables[table]}"`),
      this.text,
    );
    return new Template(text, this.member, tables);
  }

  /** The same requests for another member of the same kind, every text as long as it was. */
  for(member: DemoMember): Steps {
    const names = namesOf(member);
    const replaced = [
      ...namesOf(this.member).map((name, i) => [name, names[i] ?? ''] as const),
      ...this.ids.map((id) => [id, freshLike(id)] as const),
    ];
    const text = replaced.reduce((now, [from, to]) => now.replaceAll(from, to), this.text);
    return JSON.parse(text) as Steps;
  }

  describe(): string {
    const steps = JSON.parse(this.text) as Steps;
    const nameOf = (one: Request): string =>
      one.to === 'dynamodb'
        ? one.operation
        : `${one.method} ${one.path.replace(/[0-9a-f-]{36}/, '{user_id}')}`;
    return steps.map((step) => step.map(nameOf).join(' + ')).join(', ');
  }
}

const TABLES = ['BILLING_TABLE', 'HISTORY_TABLE', 'LOCKS_TABLE', 'PIPELINE_TABLE'] as const;

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;
const IDS = new RegExp(`${UUID.source}|[0-9a-f]{40}|[0-9a-f]{32}`, 'g');

const freshLike = (id: string): string =>
  id.includes('-') ? randomUUID() : randomBytes(id.length / 2).toString('hex');

const namesOf = ({ bankUser, records }: DemoMember): string[] => [
  bankUser.user_id,
  ...records.map(({ subscriptionId }) => subscriptionId),
];

/** What was sent before the answer to the one before had come was sent at the same time. */
function inSteps(exchanges: readonly Exchange[]): Steps {
  const steps: Request[][] = [];
  let answeredMs = -Infinity;
  for (const exchange of exchanges) {
    const step = exchange.sentMs < answeredMs ? steps.at(-1) : undefined;
    if (step === undefined) steps.push([requestOf(exchange)]);
    else step.push(requestOf(exchange));
    answeredMs = Math.max(answeredMs, exchange.answeredMs);
  }
  return steps;
}

function requestOf({ method, path, headers, body }: Exchange): Request {
  const operation = operationOf(headers);
  if (operation !== null) return { to: 'dynamodb', operation, input: JSON.parse(body) };
  const sent = Object.entries(headers).filter(([name]) => /^(content-type|idempotency-key)$/.test(name));
  return {
    to: 'bank',
    method,
    path,
    headers: Object.fromEntries(sent) as Record<string, string>,
    body: body === '' ? null : body,
  };
}

/** `PutItem`; null for what is no request to DynamoDB. */
export function operationOf(headers: Exchange['headers']): string | null {
  const target = headers['x-amz-target'];
  return typeof target === 'string' ? (target.split('.')[1] ?? null) : null;
}
