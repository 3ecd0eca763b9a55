import type { Instant } from '../domain/instant.ts';
import type { UserId } from '../domain/subscription.ts';

/** Somebody had a user banned. */
export interface BanNote {
  readonly userId: UserId;
  readonly who: string;
  readonly reason: string;
  readonly at: Instant;
}

export interface BanLog {
  note(ban: BanNote): Promise<void>;
  /** Oldest first. */
  of(userId: UserId): Promise<BanNote[]>;
}
