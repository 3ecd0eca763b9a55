import type { AllowedTransition } from '../allowed-transitions.ts';
import { readTransitions } from '../allowed-transitions.ts';

/* What may happen to a float, written down a second time; see `allowed-transitions.ts` for why. */
const ALLOWED = `
  SCHEDULING     SCHEDULING     attempt-opened attempt-declined
  SCHEDULING     ACHSENT        ach-accepted
  SCHEDULING     COMPLETED      attempt-succeeded support-changed
  SCHEDULING     RETRY          attempt-declined given-up-for-today support-changed
  SCHEDULING     DEFAULTED      limit-reached credit-returned support-changed

  ACHSENT        ACHSENT        told-aside
  ACHSENT        COMPLETED      ach-completed
  ACHSENT        RETRY          ach-returned
  ACHSENT        DEFAULTED      credit-returned

  RETRY          RETRY          attempt-opened attempt-declined told-aside support-changed
  RETRY          ACHSENT        ach-accepted
  RETRY          COMPLETED      attempt-succeeded support-changed
  RETRY          UNCOLLECTABLE  account-missing
  RETRY          DEFAULTED      limit-reached credit-returned support-changed

  UNCOLLECTABLE  UNCOLLECTABLE  attempt-opened attempt-declined told-aside
  UNCOLLECTABLE  ACHSENT        ach-accepted
  UNCOLLECTABLE  COMPLETED      attempt-succeeded support-changed
  UNCOLLECTABLE  RETRY          attempt-declined support-changed
  UNCOLLECTABLE  DEFAULTED      limit-reached credit-returned support-changed

  COMPLETED      COMPLETED      told-aside
  COMPLETED      RETRY          ach-returned
  COMPLETED      DEFAULTED      credit-returned

  DEFAULTED      RETRY          support-changed
  DEFAULTED      DEFAULTED      attempt-declined told-aside credit-returned
  DEFAULTED      ACHSENT        ach-accepted
  DEFAULTED      COMPLETED      attempt-succeeded
`;

export const ALLOWED_FLOAT_TRANSITIONS: readonly AllowedTransition[] = readTransitions(ALLOWED);

export const FLOAT_BORN_AS = 'SCHEDULING';

/** Not paid back: the member may have no other. */
export const OPEN_FLOATS: readonly string[] = ['SCHEDULING', 'ACHSENT', 'RETRY', 'UNCOLLECTABLE'];

/** Which floats a stage may charge. */
export const CHARGED_BY: Readonly<Record<string, readonly string[]>> = {
  TOMORROW: ['SCHEDULING'],
  TODAY6AM: ['SCHEDULING'],
  RETRY: ['RETRY', 'UNCOLLECTABLE'],
  WEBHOOK: ['RETRY', 'UNCOLLECTABLE'],
  SUPPORT: ['SCHEDULING', 'RETRY', 'UNCOLLECTABLE'],
};
