import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'express';
import type { Bank } from '../bank.ts';
import type { ChosenFault, FaultFacts } from '../faults/fault-dial.ts';
import type { AnswerFault, Service } from '../faults/fault-rule.ts';
import type { Answered, EntryBody } from '../ledger/entry.ts';
import { Problem } from '../problem.ts';
import { problemReply, send, type Reply } from './reply.ts';

/** What the ledger says of the request itself: which rule spoiled it and what it counts as. */
export interface RequestMark {
  readonly fault?: AnswerFault;
  readonly rule_id?: string;
  readonly fault_key?: string;
}

/** One call of a service, told apart from the ways in which its answer can go wrong. */
export interface ServiceCall {
  readonly service: Service;
  /** What a retry has in common with the first try. */
  readonly key: string;
  readonly facts: FaultFacts;
  /** Written before anything is done. Reads have none: they leave one line, written by `answered`. */
  readonly requested?: (mark: RequestMark) => EntryBody;
  readonly perform: () => Reply | Promise<Reply>;
  readonly answered: (how: Answered, mark: RequestMark) => EntryBody;
  readonly delayMs?: () => number;
}

const HOLD_MS = 120_000;
const SLOW_MS = 5000;
const RETRY_AFTER_MS = 1000;

type Chosen = ChosenFault<AnswerFault> | undefined;

const failing = new Problem(500, 'injected_error', 'the fault dial made this request fail');
const tooMany = new Problem(429, 'too_many_requests', 'the fault dial says: not taken, try again later');

/** The answer that a fault puts in place of the real one; `hold` is no answer at all. */
function spoiledReply(chosen: Chosen, when: 'before' | 'after'): Reply | 'hold' | undefined {
  if (chosen === undefined) return undefined;
  if (chosen.fault === `timeout-${when}`) return 'hold';
  if (chosen.fault === `error-${when}`) return problemReply(failing);
  if (chosen.fault === 'too-many' && when === 'before') {
    return { ...problemReply(tooMany), retryAfterS: Math.ceil((chosen.ms ?? RETRY_AFTER_MS) / 1000) };
  }
  return undefined;
}

async function performed(call: ServiceCall): Promise<Reply> {
  try {
    return await call.perform();
  } catch (error) {
    if (error instanceof Problem) return problemReply(error);
    throw error;
  }
}

/** Keeps the connection open without a word until the caller goes away, then drops it. */
function hold(res: Response, mostMs: number): void {
  const timer = setTimeout(() => res.socket?.destroy(), mostMs);
  res.once('close', () => clearTimeout(timer));
}

/** Waits, but not for a caller who has gone. */
async function delay(res: Response, ms: number): Promise<void> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  res.once('close', leave);
  if (!res.closed) await sleep(ms, undefined, { signal: gone.signal }).catch(() => undefined);
  res.off('close', leave);
}

export async function serve(bank: Bank, res: Response, call: ServiceCall): Promise<void> {
  const { faults } = bank.books;
  bank.timeline.now();
  const chosen = faults.forAnswer(call.service, call.key, call.facts);
  const mark: RequestMark = {
    ...(chosen !== undefined && { fault: chosen.fault, rule_id: chosen.rule_id }),
    ...faults.keyToCount(call.service, call.key),
  };
  if (call.requested !== undefined) bank.timeline.record(call.requested(mark));

  const finish = (reply: Reply | 'hold') => {
    const how = howAnswered(res, reply, chosen);
    bank.timeline.record(call.answered(how, mark));
    if (reply === 'hold') hold(res, chosen?.ms ?? HOLD_MS);
    else send(res, reply);
  };
  const refusal = spoiledReply(chosen, 'before');
  if (refusal !== undefined) return finish(refusal);
  const reply = await performed(call);
  const delayMs = (chosen?.fault === 'slow' ? (chosen.ms ?? SLOW_MS) : 0) + (call.delayMs?.() ?? 0);
  if (delayMs > 0) await delay(res, delayMs);
  finish(spoiledReply(chosen, 'after') ?? reply);
}

function howAnswered(res: Response, reply: Reply | 'hold', chosen: Chosen): Answered {
  const fault = chosen === undefined ? {} : { fault: chosen.fault };
  if (res.closed) return { answer: 'hung-up', ...fault };
  if (reply === 'hold') return { answer: 'timeout', ...fault };
  return { answer: 'sent', http_status: reply.status, ...fault };
}
