import { z } from 'zod';
import type { HandledEvent, MembershipEvent } from '../domain/memberships/membership-event.ts';
import { TERMS } from '../domain/subscription.ts';
import { MalformedEventError } from '../errors.ts';
import { readBy } from '../in-words.ts';
import type { InboxEvent } from '../ports/inbox.ts';

/** Go writes what is not set as an empty text, other producers as null or not at all. */
const text = z
  .string()
  .nullish()
  .transform((value) => value || null);
const term = z
  .enum([...TERMS, ''])
  .nullish()
  .transform((value) => value || null);

/** Fields that are not named here are let pass: producers add some before they tell us. */
const payload = z.object({
  user_id: z.string().min(1),
  tier: text,
  term,
  confirmation_id: text,
  subscription_id: text,
  start_date: text,
  status: text,
  pause_duration_months: z.int().nullish(),
});

/** Throws a MalformedEventError that names the field, never its value. */
export function readMembershipEvent(event: InboxEvent, type: HandledEvent): MembershipEvent {
  const read = readBy(payload, event.data);
  if ('wrong' in read) throw new MalformedEventError(`${event.type} ${event.identity}: ${read.wrong}`);
  const { data } = read;
  if (data.user_id !== event.userId)
    throw new MalformedEventError(`${event.type} ${event.identity}: it names another user than its record`);
  return {
    type,
    userId: event.userId,
    tier: data.tier,
    term: data.term,
    confirmationId: data.confirmation_id,
    subscriptionId: data.subscription_id,
    startDate: data.start_date,
    status: data.status,
    pauseDurationMonths: data.pause_duration_months ?? null,
  };
}
