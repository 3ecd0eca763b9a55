import type { Random } from './random.ts';
import type { BankDial } from './world/sim-bank.ts';
import type { FateDial } from './world/network.ts';

/** How often things go wrong in this run, each by a dial of its own. */
export interface Dials {
  readonly store: FateDial & {
    /** A transaction meets another one on its items. Nothing was written. */
    readonly conflict: number;
  };
  readonly bankLink: FateDial;
  readonly services: FateDial;
  readonly streams: FateDial;
  readonly bank: BankDial;
  readonly wishes: WishDial;
  /** Mean number of steps between two; Infinity: never. */
  readonly every: Readonly<Record<StormKind, number>>;
  /** Of events that members or the bank cause: published twice by a producer that retried. */
  readonly publishedTwice: number;
  readonly malformedEvents: number;
  /** Per window: what has expired stays for another one. */
  readonly ttlLate: number;
  /** What has expired stays for as long as the world stands: no process may rely on TTL to delete it. */
  readonly ttlNever: boolean;
  /** How far a clock that jumps is off at most. */
  readonly clockOffMs: number;
}

/** What people ask of the API about memberships and money. */
export interface WishDial {
  /** Of payments: how many an operator is asked to give back. */
  readonly refunds: number;
  /** How often in ninety days: of each who has left, */
  readonly comeBacks: number;
  /** and of each member. */
  readonly upgrades: number;
  readonly downgrades: number;
}

/** The audit compares times of several clocks and says how far they may differ: 2 s about a freeze, 5 s from us to the bank. */
export const CLOCKS_AGREE_MS = 900;
const HOUR_MS = 3_600_000;

/** What hits whole processes and servers. */
export const STORM_KINDS = [
  'process-killed',
  'killed-while-writing',
  'killed-while-charging',
  'process-asleep',
  'redis-flushed',
  'redis-down',
  'job-lost',
  'job-duplicated',
  'index-behind',
  'store-brownout',
  'bank-brownout',
  'resharded',
  'ttl-early',
  'clock-off',
] as const;
export type StormKind = (typeof STORM_KINDS)[number];

const EVERY: Readonly<Record<StormKind, number>> = {
  'process-killed': 2_500,
  'killed-while-writing': 2_500,
  'killed-while-charging': 4_000,
  'process-asleep': 4_000,
  'redis-flushed': 15_000,
  'redis-down': 12_000,
  'job-lost': 3_000,
  'job-duplicated': 2_500,
  'index-behind': 4_000,
  'store-brownout': 12_000,
  'bank-brownout': 12_000,
  resharded: 20_000,
  'ttl-early': 8_000,
  'clock-off': 6_000,
};

/**
 * The dials of one seed. Not everything in every run: a fault that is always there hides what only shows in its absence, and
 * a run with a single kind of trouble goes deeper into it.
 */
export function dialsOf(random: Random): Dials {
  /** Off in a third of the runs; otherwise from a tenth of the strength to all of it. */
  const upTo = (most: number): number =>
    random.chance(1 / 3) ? 0 : most * (0.1 + 0.9 * random.next() * random.next());
  const fates = (strength: number): FateDial => ({
    refused: upTo(0.02 * strength),
    lost: upTo(0.006 * strength),
    'answer-lost': upTo(0.01 * strength),
    late: upTo(0.004 * strength),
  });
  return {
    store: { ...fates(0.5), 'sent-twice': upTo(0.004), conflict: upTo(0.01) },
    bankLink: {
      refused: upTo(0.06),
      lost: upTo(0.05),
      'answer-lost': upTo(0.08),
      late: upTo(0.04),
    },
    services: fates(1),
    streams: fates(2),
    bank: {
      cardDeclines: upTo(0.35),
      achReturns: upTo(0.4),
      lateReturns: upTo(0.3),
      chargeBacks: upTo(0.05),
      silentEntries: upTo(0.4),
      callbackTwice: upTo(0.5),
      callbackEarly: upTo(0.3),
      callbackLate: upTo(0.4),
      refundsRefused: upTo(0.6),
    },
    every: Object.fromEntries(
      STORM_KINDS.map((kind) => [
        kind,
        random.chance(1 / 3) ? Infinity : EVERY[kind] / (0.2 + 1.8 * random.next()),
      ]),
    ) as Record<StormKind, number>,
    publishedTwice: upTo(0.15),
    malformedEvents: upTo(0.25),
    ttlLate: upTo(0.9),
    clockOffMs: random.chance(1 / 3) ? HOUR_MS : CLOCKS_AGREE_MS,
    ttlNever: random.chance(1 / 6),
    wishes: { refunds: upTo(0.5), comeBacks: upTo(40), upgrades: upTo(5), downgrades: upTo(5) },
  };
}

/** The weather is fine: what members and banks do goes on, and nothing breaks. */
export const calm = (dials: Dials): Dials => ({
  ...dials,
  store: { conflict: 0 },
  bankLink: {},
  services: {},
  streams: {},
  every: Object.fromEntries(STORM_KINDS.map((kind) => [kind, Infinity])) as Record<StormKind, number>,
  malformedEvents: 0,
  ttlLate: 0,
});
