/** Why a change by hand was not made. Nothing was written, and no money moved unless it says so. */
export type RefusalCode =
  | 'not-found'
  | 'user-busy'
  | 'not-owned'
  | 'malformed-record'
  | 'attempt-open'
  | 'frozen'
  | 'pending-cancellation'
  | 'illegal-transition'
  | 'period-taken'
  | 'unpriced-tier'
  | 'membership-ended'
  | 'already-active'
  | 'user-not-eligible'
  | 'no-debit-card'
  | 'no-upcoming-period'
  | 'not-an-upgrade'
  | 'not-a-downgrade'
  | 'too-far-ahead'
  | 'amount-mismatch'
  | 'not-refundable'
  | 'payment-declined'
  | 'refund-declined'
  | 'upgrade-undone'
  | 'reactivation-undone'
  | 'no-active-subscription'
  | 'over-limit'
  | 'requirements-not-met'
  | 'subscription-over'
  | 'payment-owed';

/** Thrown where a wish meets a rule: the caller is told which. */
export class Refusal extends Error {
  readonly refused: RefusalCode;

  constructor(refused: RefusalCode, detail: string) {
    super(detail);
    this.name = 'Refusal';
    this.refused = refused;
  }
}
