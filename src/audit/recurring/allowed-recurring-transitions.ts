import type { AllowedTransition } from '../allowed-transitions.ts';
import { readTransitions } from '../allowed-transitions.ts';

/* What may happen to a recurring payment, written down a second time; see `allowed-transitions.ts` for why. */
const ALLOWED = `
  ACTIVE     ACTIVE     reminded attempt-opened attempt-succeeded attempt-abandoned period-too-old changed
  ACTIVE     PAST_DUE   attempt-declined
  ACTIVE     FAILED     attempt-declined
  ACTIVE     CANCELLED  cancelled

  PAST_DUE   ACTIVE     attempt-succeeded period-too-old
  PAST_DUE   PAST_DUE   attempt-opened attempt-declined attempt-abandoned changed
  PAST_DUE   FAILED     attempt-declined
  PAST_DUE   CANCELLED  cancelled

  CANCELLED  CANCELLED  attempt-succeeded attempt-declined attempt-abandoned
`;

export const ALLOWED_RECURRING_TRANSITIONS: readonly AllowedTransition[] = readTransitions(ALLOWED);

export const RECURRING_BORN_BY = 'created';

/** The account is charged. */
export const GOES_ON: readonly string[] = ['ACTIVE', 'PAST_DUE'];
