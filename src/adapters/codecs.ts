import { z } from 'zod';
import type { Instant } from '../domain/instant.ts';
import { formatInstant, parseInstant } from '../domain/instant.ts';
import type { Cents } from '../domain/money.ts';
import { formatMoney, parseMoney } from '../domain/money.ts';

/* How values of the domain are written as text wherever we keep them, and read back with a check. */

export const instant = z.codec(z.string(), z.custom<Instant>(), {
  decode: (text, context) => parseInstant(text) ?? refuse(context, 'a time'),
  encode: formatInstant,
});
export const money = z.codec(z.string(), z.custom<Cents>(), {
  decode: (text, context) => parseMoney(text) ?? refuse(context, 'an amount'),
  encode: formatMoney,
});
function refuse(context: z.core.ParsePayload, what: string): never {
  context.issues.push({ code: 'custom', input: context.value, message: `not ${what}` });
  return z.NEVER;
}
