import type { Instant } from '../domain/instant.ts';
import { formatInstant } from '../domain/instant.ts';
import type { UserId } from '../domain/subscription.ts';
import type { FreezeOrder } from '../ports/freezes.ts';
import type { LockHolder } from '../ports/lock.ts';
import type { RecordStory } from '../ports/pipeline.ts';
import { attemptText } from './explain-texts.ts';

/* What stands between a record, of whatever product, and its being charged at this moment; in plain words. */

export const freezesOn = (orders: readonly FreezeOrder[], userId: UserId, now: Instant): FreezeOrder[] =>
  orders.filter(
    ({ target, until }) =>
      (target.scope !== 'user' || target.userId === userId) && (until === null || until > now),
  );

export const openNote = ({ attempt, askedNextAt }: NonNullable<RecordStory['open']>): string =>
  `a ${attemptText(attempt)} has no answer since ${formatInstant(attempt.openedAt)}: no other may begin; ` +
  `the janitor asks the processor at ${formatInstant(askedNextAt)}`;

export const lockNote = ({ ownerName, since }: LockHolder): string =>
  `somebody works on this member: ${ownerName}${since === null ? '' : `, since ${formatInstant(since)}`}`;

const FROZEN: Record<FreezeOrder['target']['scope'], string> = {
  global: 'all charging',
  user: 'this member',
  PINLESS: 'charging debit cards',
  ACH: 'charging bank accounts',
};

export const freezeNote = ({ target, who, at, until, reason }: FreezeOrder): string =>
  `${FROZEN[target.scope]} is frozen by ${who} since ${formatInstant(at)}` +
  `${until === null ? '' : ` until ${formatInstant(until)}`}: ${reason}`;
