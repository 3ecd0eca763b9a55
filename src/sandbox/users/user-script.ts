import { z } from 'zod';
import { centsFrom, MONEY_TEXT } from '../money.ts';
import { DECLINE_CODE, RETURN_CODE } from '../payments/codes.ts';
import { sandboxInstant } from '../clock/instant-text.ts';

/** Ids appear in paths and keys: visible ASCII without the slash. */
export const userId = z
  .string()
  .regex(/^[\x21-\x2e\x30-\x7e]{1,128}$/, 'must be 1 to 128 visible ASCII characters without "/"');

export const money = z
  .string()
  .regex(MONEY_TEXT, 'must be a decimal string with two decimals such as "4.99"');
export const positiveMoney = money.refine((text) => !MONEY_TEXT.test(text) || centsFrom(text) > 0, {
  message: 'must be greater than 0.00',
});

const days = z.int().min(0).max(3650);
const firstTimes = z.int().min(1).max(1_000_000).optional();
export const returnCode = z.string().regex(RETURN_CODE, 'must be a return code such as R01, R10 or AC04');
const label = z.string().min(1).max(100);

const account = z.strictObject({
  account_id: label.optional(),
  mask: z
    .string()
    .regex(/^\d{4}$/, 'must be four digits')
    .default('6789'),
  institution_id: label.default('ins_sandbox'),
  /** Closed at the bank while the transactions service still lists it: ACH returns R02, pinless declines. */
  closed: z.boolean().default(false),
});

const balance = z.strictObject({
  amount: money,
  /** From when the amount counts; the sandbox's now when left out. */
  at: sandboxInstant.optional(),
  paydays: z
    .strictObject({
      every_days: z.int().min(1).max(3650),
      amount: money,
      /** Days from `at` to the first payday; one whole period when left out. */
      first_after_days: z.int().min(1).max(3650).optional(),
    })
    .optional(),
  daily_spending: money.optional(),
});

const pinless = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('by-balance') }),
  z.strictObject({
    mode: z.literal('decline'),
    code: z.string().regex(DECLINE_CODE, 'must be two digits or capitals such as "05"').default('05'),
    times: firstTimes,
  }),
]);

const ach = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('by-balance') }),
  z.strictObject({
    mode: z.literal('return'),
    code: returnCode,
    after_banking_days: z.int().min(0).max(60).default(2),
    times: firstTimes,
  }),
]);

/** How one pretend customer behaves. Everything has a default: `{}` is an active payer with an account and a card. */
export const userScript = z.strictObject({
  status: z.enum(['PROCESSING', 'ACTIVE', 'PAUSED', 'INVESTIGATE', 'BANNED']).default('ACTIVE'),
  is_employee: z.boolean().default(false),
  email: z.email().max(254).optional(),
  tier: label.optional(),
  tier_version: label.optional(),
  account: account.nullable().prefault({}),
  has_debit_card: z.boolean().default(true),
  balance: balance.default({ amount: '1000.00' }),
  pinless: pinless.default({ mode: 'by-balance' }),
  ach: ach.default({ mode: 'by-balance' }),
  late_return: z
    .strictObject({ code: returnCode.default('R10'), after_days: days, times: firstTimes })
    .optional(),
  charge_back: z.strictObject({ after_days: days, times: firstTimes }).optional(),
  answer_delay_ms: z.int().min(0).max(120_000).optional(),
});

export const userScriptWithId = userScript.extend({ user_id: userId });
export const manyUserScripts = z.array(userScriptWithId).min(1).max(1000);

export type UserScript = z.infer<typeof userScript>;
export type BalanceScript = UserScript['balance'];

/** Behaviours that can be limited to the first k times; the ledger says on which entry each was used. */
export type ScriptedBehaviour = 'pinless' | 'ach' | 'late_return' | 'charge_back';
