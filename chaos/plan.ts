import { Chance } from './chance.ts';

/** Processes of each role: where one is gone another goes on. */
export const CREW = { workers: 3, bridges: 2, scheduler: 2, api: 2 } as const;
export type Role = keyof typeof CREW;

/** What the bank does wrong for a while, in the words of its fault dial. */
export const BANK_FAULTS = [
  'timeout-before',
  'timeout-after',
  'error-before',
  'error-after',
  'too-many',
  'slow',
  'duplicate-callback',
  'late-callback',
  'early-callback',
] as const;
export type BankFault = (typeof BANK_FAULTS)[number];

/** Something that goes wrong. `place` says which process of its role, from 1. */
export type Fault =
  | { readonly what: 'killed'; readonly role: Role; readonly place: number }
  | { readonly what: 'stopped'; readonly role: Role; readonly place: number; readonly forMs: number }
  | { readonly what: 'redis-killed'; readonly forMs: number }
  | { readonly what: 'redis-flushed' }
  | { readonly what: 'dynamodb-paused'; readonly forMs: number }
  | { readonly what: 'bank'; readonly fault: BankFault; readonly forMs: number };

export interface PlannedFault {
  readonly fault: Fault;
  /** After the one before. */
  readonly afterMs: number;
}

type Draw = (chance: Chance) => Fault;

/** Of a member's lock, in every process of the crew. */
export const LEASE_MS = 4_000;
/** Longer than the lease and the stall of the processes, so that others have taken their work when they wake. */
const STOPPED_MS = [5_000, 9_000] as const;
const REDIS_DOWN_MS = [0, 3_000] as const;
/** Both within and beyond what a client waits for one answer. */
const DYNAMODB_PAUSED_MS = [1_000, 6_000] as const;
const BANK_MS = [3_000, 7_000] as const;
const BETWEEN_MS = [200, 2_000] as const;

const killed =
  (role: Role): Draw =>
  (chance) => ({ what: 'killed', role, place: chance.between(1, CREW[role]) });
const stopped =
  (role: Role): Draw =>
  (chance) => ({
    what: 'stopped',
    role,
    place: chance.between(1, CREW[role]),
    forMs: chance.between(...STOPPED_MS),
  });
const bank =
  (fault: BankFault): Draw =>
  (chance) => ({ what: 'bank', fault, forMs: chance.between(...BANK_MS) });

/** Every kind of fault, and how many of it are in a hundred. Most often where money and promises are at stake. */
const KINDS: readonly (readonly [share: number, draw: Draw])[] = [
  [12, killed('workers')],
  [12, stopped('workers')],
  [7, killed('bridges')],
  [6, stopped('bridges')],
  [5, killed('scheduler')],
  [4, stopped('scheduler')],
  [7, killed('api')],
  [5, stopped('api')],
  [7, (chance) => ({ what: 'redis-killed', forMs: chance.between(...REDIS_DOWN_MS) })],
  [7, () => ({ what: 'redis-flushed' })],
  [6, (chance) => ({ what: 'dynamodb-paused', forMs: chance.between(...DYNAMODB_PAUSED_MS) })],
  [4, bank('timeout-before')],
  [5, bank('timeout-after')],
  [2, bank('error-before')],
  [3, bank('error-after')],
  [2, bank('too-many')],
  [2, bank('slow')],
  [2, bank('duplicate-callback')],
  [1, bank('late-callback')],
  [1, bank('early-callback')],
];

/** The same seed and number give the same plan. Each kind is in it, if there are enough for that. */
export function drawPlan(seed: number, faults: number): PlannedFault[] {
  const chance = new Chance(seed);
  const kinds = chance.shuffled(KINDS);
  const hundred = kinds.flatMap(([share, draw]) => Array.from({ length: share }, () => draw));
  const others = Array.from({ length: Math.max(0, faults - kinds.length) }, () => chance.oneOf(hundred));
  const deck = [...kinds.map(([, draw]) => draw).slice(0, faults), ...others];
  return chance
    .shuffled(deck)
    .map((draw) => ({ fault: draw(chance), afterMs: chance.between(...BETWEEN_MS) }));
}

const NAMES: Record<Role, string> = {
  workers: 'worker',
  bridges: 'bridge',
  scheduler: 'scheduler',
  api: 'API',
};

/** One process of a role, as people call it. */
export const nameOf = (role: Role, place: number): string => `${NAMES[role]} ${place}`;

/** For the table: faults of one kind have one name. */
export function kindOf(fault: Fault): string {
  switch (fault.what) {
    case 'killed':
      return `${NAMES[fault.role]} killed`;
    case 'stopped':
      return `${NAMES[fault.role]} stopped and woken`;
    case 'redis-killed':
      return 'Redis killed and restarted';
    case 'redis-flushed':
      return 'Redis flushed';
    case 'dynamodb-paused':
      return 'DynamoDB paused';
    case 'bank':
      return `bank: ${fault.fault}`;
  }
}

/** What happens to which process, and for how long. */
export function describe(fault: Fault): string {
  switch (fault.what) {
    case 'killed':
      return `SIGKILL to ${nameOf(fault.role, fault.place)}`;
    case 'stopped':
      return `SIGSTOP to ${nameOf(fault.role, fault.place)} for ${seconds(fault.forMs)}`;
    case 'redis-killed':
      return `SIGKILL to Redis, back after ${seconds(fault.forMs)}`;
    case 'redis-flushed':
      return 'FLUSHALL';
    case 'dynamodb-paused':
      return `SIGSTOP to DynamoDB for ${seconds(fault.forMs)}`;
    case 'bank':
      return `the bank: ${fault.fault} for ${seconds(fault.forMs)}`;
  }
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
