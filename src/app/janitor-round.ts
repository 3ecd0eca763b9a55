import type { PageKey } from '../ports/subscriptions.ts';
import { aFewAtOnce } from './a-few-at-once.ts';
import type { CollectAnyDependencies } from './any-product.ts';
import { pagesOf } from './pages-of.ts';
import { settleAch } from './settle-ach.ts';
import type { JanitorPolicy } from './settle-attempt.ts';
import { settleAttempt } from './settle-attempt.ts';

export interface RoundCounts {
  readonly asked: number;
  readonly settled: number;
  /** Nothing known yet, busy, or settled by another process: asked again when it is due again. */
  readonly left: number;
  /** Asked again in the next round. */
  readonly failed: number;
}

/** What could not be settled: one record, or a part of a list that could not be read. */
export type Troubled =
  { readonly userId: string; readonly subscriptionId: string } | { readonly list: string };

export type OnTrouble = (ids: Troubled, error: unknown) => void;

/** The janitor is never in a hurry, and the processor's time belongs to the charges. */
const ASKED_AT_ONCE = 4;

interface Page<T> {
  readonly items: readonly T[];
  readonly unreadable: readonly Error[];
  readonly nextKey: PageKey | null;
}

/** Something that the processor is to be asked about, and where the others stand. */
interface Chore<T> {
  readonly list: string;
  readonly page: (key: PageKey | null) => Promise<Page<T>>;
  readonly settle: (item: T) => Promise<{ readonly settled: unknown } | { readonly left: string }>;
}

/**
 * Asks about everything whose time has come, once: attempts without an answer, and ACH entries without the bank's word.
 * What fails stays on its list for the next round, and does not keep the others waiting.
 */
export async function janitorRound(
  dependencies: CollectAnyDependencies,
  janitor: JanitorPolicy,
  onError: OnTrouble,
): Promise<RoundCounts> {
  const { pipeline, clock } = dependencies;
  const asOf = clock.now();
  const attempts = await doAll(onError, {
    list: 'open-attempts',
    page: async (key) => {
      const { attempts: items, ...page } = await pipeline.openAttempts(asOf, key);
      return { items, ...page };
    },
    settle: (attempt) => settleAttempt(dependencies, janitor, attempt),
  });
  const entries = await doAll(onError, {
    list: 'ach-watch',
    page: async (key) => {
      const { watches: items, ...page } = await pipeline.watches.due(asOf, key);
      return { items, ...page };
    },
    settle: (watch) => settleAch(dependencies, watch),
  });
  return sum([attempts, entries]);
}

async function doAll<T extends { readonly userId: string; readonly subscriptionId: string }>(
  onError: OnTrouble,
  { list, page, settle }: Chore<T>,
): Promise<RoundCounts> {
  let counts = NONE;
  // Where a list cannot be read on, the rest of it waits for the next round; the other list does not.
  for await (const { items, unreadable } of pagesOf((key) => page(key).catch(unreadablePage))) {
    for (const error of unreadable) onError({ list }, error);
    const asked = await aFewAtOnce(ASKED_AT_ONCE, items, (item) => ask(onError, settle, item));
    counts = sum([counts, ...unreadable.map(() => UNREAD), ...asked]);
  }
  return counts;
}

const unreadablePage = (error: Error) => ({ items: [], unreadable: [error], nextKey: null });

async function ask<T extends { readonly userId: string; readonly subscriptionId: string }>(
  onError: OnTrouble,
  settle: Chore<T>['settle'],
  item: T,
): Promise<RoundCounts> {
  try {
    return 'settled' in (await settle(item)) ? SETTLED : LEFT;
  } catch (error) {
    const { userId, subscriptionId } = item;
    onError({ userId, subscriptionId }, error);
    return FAILED;
  }
}

const NONE: RoundCounts = { asked: 0, settled: 0, left: 0, failed: 0 };
const SETTLED: RoundCounts = { asked: 1, settled: 1, left: 0, failed: 0 };
const LEFT: RoundCounts = { asked: 1, settled: 0, left: 1, failed: 0 };
const FAILED: RoundCounts = { asked: 1, settled: 0, left: 0, failed: 1 };
const UNREAD: RoundCounts = { asked: 0, settled: 0, left: 0, failed: 1 };

const sum = (rounds: readonly RoundCounts[]): RoundCounts =>
  rounds.reduce(
    (a, b) => ({
      asked: a.asked + b.asked,
      settled: a.settled + b.settled,
      left: a.left + b.left,
      failed: a.failed + b.failed,
    }),
    NONE,
  );
