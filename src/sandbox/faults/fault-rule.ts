import { z } from 'zod';
import { METHODS } from '../payments/payment.ts';

/** The services whose answers can be spoiled; `lookups` are the two GETs of payments, apart so that a rule for charges leaves them alone. */
export const SERVICES = ['users', 'transactions', 'payments', 'lookups', 'refunds', 'notifications'] as const;
export const ANSWER_FAULTS = [
  'timeout-before',
  'timeout-after',
  'error-before',
  'error-after',
  'too-many',
  'slow',
] as const;
export const CALLBACK_FAULTS = ['duplicate-callback', 'late-callback', 'early-callback'] as const;

export type Service = (typeof SERVICES)[number];
export type AnswerFault = (typeof ANSWER_FAULTS)[number];
export type CallbackFault = (typeof CALLBACK_FAULTS)[number];

const id = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'must be 1 to 200 visible ASCII characters')
  .optional();

const common = {
  id: z.string().regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 of A-Z a-z 0-9 _ . -'),
  match: z.strictObject({ user_id: id, method: z.enum(METHODS).optional(), reference_id: id }).default({}),
  probability: z.number().min(0).max(1).default(1),
  times: z.int().min(1).max(1_000_000).optional(),
};

const answerRule = z.strictObject({
  ...common,
  service: z.enum(SERVICES),
  fault: z.enum(ANSWER_FAULTS),
  /** Real time: how long to hold or to wait, or what Retry-After says. */
  ms: z.int().min(0).max(600_000).optional(),
});
const callbackRule = z.strictObject({
  ...common,
  service: z.literal('callbacks'),
  fault: z.enum(CALLBACK_FAULTS),
  /** Sandbox time: how much later a late callback comes. */
  ms: z.int().min(0).max(31_536_000_000).optional(),
});

export const faultRule = z.discriminatedUnion('service', [answerRule, callbackRule]);

const faultRules = z
  .array(faultRule)
  .max(100)
  .refine((rules) => new Set(rules.map((rule) => rule.id)).size === rules.length, {
    message: 'must not repeat an id',
  });

export const faultDialSettings = z.strictObject({
  /** Another seed gives another, equally repeatable, run of the same probabilities. */
  seed: z.string().max(100).default('sandbox'),
  rules: faultRules,
});

export type FaultRule = z.infer<typeof faultRule>;
export type FaultDialSettings = z.infer<typeof faultDialSettings>;
