import { z } from 'zod';
import { DynamoAuditTables } from '../adapters/dynamodb/audit-source.ts';
import { createDynamoClient } from '../adapters/dynamodb/client.ts';
import { audit } from '../audit/audit.ts';
import type { AuditOptions, AuditSource, OnProgress } from '../audit/audit.ts';
import { parseInstant, plusMs } from '../audit/instant.ts';
import { HttpLedger } from '../audit/ledger.ts';
import type { FloatLimits } from '../audit/floats/float-case.ts';
import type { AuditTotals, Violation } from '../audit/violation.ts';
import type { FloatPolicy } from '../domain/floats/policy.ts';
import type { Environment } from '../config/read-config.ts';
import { readConfig } from '../config/read-config.ts';
import * as sections from '../config/sections.ts';
import { tableNames } from './make-tables.ts';
import type { Terminal } from './terminal.ts';
import { colour } from './terminal.ts';

type Out = Pick<Terminal, 'line' | 'progress'>;

/** A real processor has no ledger to read. */
const ledgerSection = z.object({
  PAYMENTS_SERVICE_URL: sections.services.shape.PAYMENTS_SERVICE_URL.optional(),
});

export interface AuditRequest {
  readonly json: boolean;
  /** Where figures for machines go; standard output when left out. */
  readonly write?: (text: string) => void;
}

/**
 * Checks live data against the rules. Everything for people goes to `out`, which with `json` should be standard error.
 * Gives the exit code: 1 when a rule is broken, or when a user's records never stood still to be checked.
 */
export async function runAudit(
  environment: Environment,
  { json, write = (text) => process.stdout.write(text) }: AuditRequest,
  out: Out,
): Promise<number> {
  const audited = await auditSystem(environment, out);
  if (json) write(`${JSON.stringify(figures(audited))}\n`);
  return isClean(audited) ? 0 : 1;
}

export interface Audited {
  readonly violations: readonly Violation[];
  readonly totals: AuditTotals;
}

export const isClean = ({ totals }: Audited): boolean => totals.violations === 0 && totals.unsettled === 0;

/** The audit of whatever the environment points at; people are told of each violation on the way. */
export async function auditSystem(environment: Environment, out: Out): Promise<Audited> {
  const { dynamodb, clock, bank, janitor, floats } = readConfig(environment, {
    dynamodb: sections.dynamodb,
    clock: sections.clock,
    bank: ledgerSection,
    janitor: sections.janitor,
    floats: sections.floats,
  });
  const client = createDynamoClient({
    region: dynamodb.DYNAMO_REGION,
    endpoint: dynamodb.AWS_ENDPOINT_URL_DYNAMODB,
  });
  try {
    const tables = new DynamoAuditTables({
      client,
      tables: tableNames(dynamodb),
      pageSize: dynamodb.PAGE_SIZE,
    });
    const ledger = bank.PAYMENTS_SERVICE_URL === undefined ? null : new HttpLedger(bank.PAYMENTS_SERVICE_URL);
    const now = await timeOf(clock.CLOCK_URL);
    const options: AuditOptions = {
      now,
      abandonAfterMs: janitor.ATTEMPT_ABANDON_AFTER,
      floatLimits: limitsOf(floats.floatPolicy),
    };
    return await tell({ tables, ledger }, options, out);
  } finally {
    client.destroy();
  }
}

const limitsOf = (policy: FloatPolicy): FloatLimits => ({
  failedAch: policy.maxFailedAch,
  webhooksPerDay: policy.webhookPerDay,
  daysPastDue: policy.maxDaysPastDue,
  twoFailures: policy.twoFailuresGate,
});

async function tell(source: AuditSource, options: AuditOptions, out: Out): Promise<Audited> {
  const violations: Violation[] = [];
  const bar = out.progress('auditing records, floats and accounts', await source.tables.estimate());
  const onProgress: OnProgress = ({ records, floats, accountItems }) =>
    bar.update(records + floats + accountItems);
  const run = audit(source, options, onProgress);
  let step = await run.next();
  for (; step.done !== true; step = await run.next()) violations.push(step.value);
  bar.finish();
  for (const { rule, user_id, subscription_id, detail } of violations)
    out.line(`${colour('red', '✗')} rule ${rule}: user ${user_id}, record ${subscription_id}: ${detail}`);
  summary(step.value, out);
  return { violations, totals: step.value };
}

function summary(totals: AuditTotals, out: Out): void {
  const { ledgerRead, unsettled, attempts, debits, violations } = totals;
  if (!ledgerRead)
    out.line(
      `${colour('yellow', '!')} rules 1 and 5, and the debits of rule 2: ledger not readable: skipped`,
    );
  if (unsettled > 0)
    out.line(
      `${colour('yellow', '!')} ${unsettled} users, floats or accounts looked wrong and changed at every look: audit them again`,
    );
  const result =
    violations === 0 ? colour('green', 'no violation') : colour('red', `${violations} violations`);
  out.line(`checked ${whatOf(totals)}, ${attempts} attempts, ${debits} debits: ${result}`);
}

/** Of the products, those of which there is something. */
export function whatOf({ records, floats, recurring }: AuditTotals): string {
  const [last, ...others] = [
    recurring === 0 ? [] : [`${recurring} recurring payments`],
    floats === 0 ? [] : [`${floats} floats`],
    [`${records} records`],
  ].flat();
  return others.length === 0 ? `${last}` : `${others.reverse().join(', ')} and ${last}`;
}

const figures = ({ violations, totals }: Audited) => ({
  violations,
  checked: totals.records,
  floats: totals.floats,
  recurring: totals.recurring,
  attempts: totals.attempts,
  debits: totals.debits,
  unsettled: totals.unsettled,
  ledger_read: totals.ledgerRead,
});

/** Billing time: the sandbox's where one is set. */
async function timeOf(clockUrl: string | undefined): Promise<bigint> {
  if (clockUrl === undefined) return plusMs(0n, Date.now());
  const response = await fetch(clockUrl, { signal: AbortSignal.timeout(5_000) });
  const { now } = z.object({ now: z.string() }).parse(await response.json());
  const instant = parseInstant(now);
  if (instant === null) throw new Error('the clock at CLOCK_URL tells no time');
  return instant;
}
