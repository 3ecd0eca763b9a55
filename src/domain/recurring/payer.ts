import type { PayerReason, RecurringFacts } from './recurring-decision.ts';

/**
 * Only an ACTIVE account is charged, and told that it will be. PAUSED is the user service's word for one that has left;
 * none of this ends a subscription, because the user service may be wrong about every member at once.
 */
export function whyPayerWaits(user: RecurringFacts['user']): PayerReason | null {
  switch (user?.status) {
    case undefined:
      return 'user-missing';
    case 'ACTIVE':
      return null;
    case 'PAUSED':
      return 'user-cancelled';
    case 'BANNED':
      return 'user-banned';
    case 'PROCESSING':
      return 'user-processing';
    case 'INVESTIGATE':
      return 'user-under-investigation';
    default:
      return 'user-status-unknown';
  }
}
