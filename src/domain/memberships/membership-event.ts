import type { Term, UserId } from '../subscription.ts';
import type { Cause } from '../transitions.ts';

/** The events of a membership that change billing records. */
export const HANDLED_EVENTS = [
  'CANCEL',
  'SUB_PAUSED',
  'RETRACT',
  'UNPAUSE',
  'UNPAUSE_CHARGE',
  'CLOSEACCOUNT',
] as const;
export type HandledEvent = (typeof HANDLED_EVENTS)[number];

/** They come by the same stream and are for other services to act on: here they are counted and nothing more. */
export const IGNORED_EVENTS = [
  'UPGRADE',
  'DOWNGRADE',
  'AUTODOWNGRADED',
  'GONETOCOLLECTIONS',
  'PAYNOW',
  'REACTIVATE',
] as const;

/** What the users stream is filtered by. */
export const MEMBERSHIP_EVENTS = [...HANDLED_EVENTS, ...IGNORED_EVENTS] as const;
export type MembershipEventType = (typeof MEMBERSHIP_EVENTS)[number];

/** What the user service tells about a membership. Null: not told; which fields come depends on the type. */
export interface MembershipEvent {
  readonly type: HandledEvent;
  readonly userId: UserId;
  readonly tier: string | null;
  readonly term: Term | null;
  readonly confirmationId: string | null;
  readonly subscriptionId: string | null;
  readonly startDate: string | null;
  readonly status: string | null;
  readonly pauseDurationMonths: number | null;
}

export const CAUSE_OF_EVENT: Record<HandledEvent, Cause> = {
  CANCEL: 'membership-cancelled',
  SUB_PAUSED: 'membership-paused',
  RETRACT: 'membership-retracted',
  UNPAUSE: 'membership-unpaused',
  UNPAUSE_CHARGE: 'membership-unpaused',
  CLOSEACCOUNT: 'account-closed',
};
