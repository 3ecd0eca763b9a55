import type { GatewayStatus } from './status.ts';

/**
 * What a gateway may say, in one word each. Every gateway has its own names for these; its folder has the table from
 * its event names to these words.
 */
export const STATE_WORDS = ['trialing', 'paid', 'unpaid', 'cancelled', 'ended'] as const;
/** About the whole subscription: it says where the subscription stands. */
export type StateWord = (typeof STATE_WORDS)[number];

export const PAYMENT_WORDS = ['payment-failed', 'payment-made'] as const;
/** About one payment: where it leads depends on where the subscription stood. */
export type PaymentWord = (typeof PAYMENT_WORDS)[number];

/** Ours: what was cancelled has run out. The only step that no gateway has to tell. */
export const LAPSED = 'lapsed';

export type Word = StateWord | PaymentWord | typeof LAPSED;

type Row = Readonly<Record<GatewayStatus, GatewayStatus | null>>;

/**
 * The state machine: by what is said and where the subscription stands, where it goes. Null: it cannot be said of it.
 *
 *   pending ──► trial / active ──► past_due ──► active (recovered) │ expired
 *                     ├──► active (renewed)
 *                     └──► cancelled ──► expired │ active (resumed)
 *
 * Gateways guarantee neither order nor delivery. A word about the whole subscription holds whatever came before; words in
 * between may come later (and change nothing) or never. So its row leads to the same status from everywhere.
 */
export const TRANSITIONS: Readonly<Record<Word, Row>> = {
  trialing: fromEverywhere('trial'),
  paid: fromEverywhere('active'),
  unpaid: fromEverywhere('past_due'),
  cancelled: fromEverywhere('cancelled'),
  ended: fromEverywhere('expired'),
  'payment-failed': {
    // The first payment: the checkout is not completed.
    pending: 'pending',
    trial: 'past_due',
    active: 'past_due',
    past_due: 'past_due',
    cancelled: 'cancelled',
    expired: 'expired',
  },
  'payment-made': {
    pending: 'pending',
    trial: 'trial',
    active: 'active',
    past_due: 'active',
    cancelled: 'cancelled',
    expired: 'expired',
  },
  [LAPSED]: { pending: null, trial: null, active: null, past_due: null, cancelled: 'expired', expired: null },
};

function fromEverywhere(to: GatewayStatus): Row {
  return { pending: to, trial: to, active: to, past_due: to, cancelled: to, expired: to };
}

export const next = (word: StateWord | PaymentWord, from: GatewayStatus): GatewayStatus =>
  TRANSITIONS[word][from] ?? from;

/** Whether any word leads there. A collision keeps a subscription `past_due`, from wherever it would have gone on. */
export const isLegalForGateway = (from: GatewayStatus, to: GatewayStatus): boolean =>
  to === 'past_due' || Object.values(TRANSITIONS).some((row) => row[from] === to);
