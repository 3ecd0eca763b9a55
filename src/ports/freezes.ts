import type { Instant } from '../domain/instant.ts';
import type { Rail, UserId } from '../domain/subscription.ts';

/** What a freeze stops: everything, one rail, or one user. */
export type FreezeTarget =
  { readonly scope: 'global' | Rail } | { readonly scope: 'user'; readonly userId: UserId };

const TARGETS: Readonly<Record<string, FreezeTarget>> = {
  global: { scope: 'global' },
  pinless: { scope: 'PINLESS' },
  ach: { scope: 'ACH' },
};

/** As people write it: `global`, `pinless`, `ach`, or `user:ID` of one member. Null for anything else. */
export function parseFreezeTarget(text: string): FreezeTarget | null {
  const [, userId] = /^user:(\S+)$/.exec(text) ?? [];
  if (userId !== undefined) return { scope: 'user', userId: userId as UserId };
  return Object.hasOwn(TARGETS, text) ? (TARGETS[text] ?? null) : null;
}

export const freezeTargetName = (target: FreezeTarget): string =>
  target.scope === 'user' ? `user:${target.userId}` : target.scope.toLowerCase();

export interface FreezeOrder {
  readonly target: FreezeTarget;
  readonly reason: string;
  /** The person or program that ordered it. */
  readonly who: string;
  readonly at: Instant;
  /** Null: until somebody lifts it. */
  readonly until: Instant | null;
}

/** Freezes, and the log of who ordered and lifted them: the audit reads it. */
export interface FreezeStore {
  /** Holds for every decision that is made after this resolves. Ordered again it is replaced. */
  freeze(order: FreezeOrder): Promise<void>;
  /** False when nothing was frozen. */
  unfreeze(target: FreezeTarget, by: { readonly who: string; readonly at: Instant }): Promise<boolean>;
  list(): Promise<FreezeOrder[]>;
}
