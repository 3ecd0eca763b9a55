import { z } from 'zod';
import { AS_OF_ALLOWED, parseAsOf } from '../app/as-of.ts';
import { parseDate } from '../domain/calendar-date.ts';
import type { CalendarDate } from '../domain/calendar-date.ts';
import type { FloatId } from '../domain/floats/float.ts';
import type { Instant } from '../domain/instant.ts';
import { parseInstant } from '../domain/instant.ts';
import { cents, parseMoney } from '../domain/money.ts';
import type { AccountId, RecurringId } from '../domain/recurring/recurring.ts';
import type { SubscriptionId, UserId } from '../domain/subscription.ts';

/*
 * Values as callers write them. Each is described for the documentation, and what is refused says what is allowed.
 */

const id = (what: string) =>
  z.string().regex(/^[\x21-\x7e]{1,128}$/, `${what}: 1 to 128 visible ASCII characters`);

export const userId = id('a user id').transform((text) => text as UserId);
export const subscriptionId = id('a subscription id').transform((text) => text as SubscriptionId);
export const floatId = id('a float id').transform((text) => text as FloatId);
export const accountId = id('an account id').transform((text) => text as AccountId);
export const recurringId = id('a subscription id').transform((text) => text as RecurringId);
/** Any name that another system gave to something. */
export const name = id('an id');

/** Where a list goes on, as its last page named it. */
export const cursor = z.string().min(1, 'a cursor').max(2_000, 'a cursor');

/** Said by a person, for people. */
export const reason = z.string().trim().min(1, 'a reason').max(500, 'at most 500 characters');

export const amount = z
  .string()
  .regex(/^\d{1,7}\.\d{2}$/, 'an amount such as "4.99"')
  .transform((text) => parseMoney(text) ?? cents(0))
  .meta({ description: 'US dollars as decimal text', examples: ['4.99'] });

export const date = z
  .string()
  .transform((text, context): CalendarDate => parseDate(text) ?? refuse(context, 'a day such as 2026-11-16'))
  .meta({ description: 'A day', examples: ['2026-11-16'] });

export const time = z
  .string()
  .transform(
    (text, context): Instant => parseInstant(text) ?? refuse(context, 'a time such as 2026-11-16T06:00:00Z'),
  )
  .meta({ description: 'A moment, RFC 3339', examples: ['2026-11-16T06:00:00Z'] });

export const asOf = z
  .string()
  .transform((text, context): Instant => parseAsOf(text) ?? refuse(context, AS_OF_ALLOWED))
  .meta({ description: 'A moment, RFC 3339', examples: ['2026-11-16T06:00:00Z'] });

function refuse(context: z.RefinementCtx, allowed: string): never {
  context.addIssue(allowed);
  return z.NEVER;
}

/* The same values as we write them. */

export const amountText = z.string().meta({ description: 'US dollars as decimal text', examples: ['4.99'] });
export const dateText = z.string().meta({ description: 'A day', examples: ['2026-11-16'] });
export const timeText = z
  .string()
  .meta({ description: 'A moment, RFC 3339', examples: ['2026-11-16T06:00:00Z'] });
export const unreadable = z
  .array(z.string())
  .meta({ description: 'Rows that cannot be read: somebody has to mend them' });
