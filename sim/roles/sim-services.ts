import type { UserFacts } from '../../src/domain/decision.ts';
import { cents } from '../../src/domain/money.ts';
import type { AccountService, ChargeAnswer, Payment, UserService } from '../../src/ports/services.ts';
import type { Services } from '../../src/wiring/services.ts';
import type { BankPayment } from '../world/sim-bank.ts';
import type { SimProcess } from '../world/sim-process.ts';
import type { World } from '../world/world.ts';
import { BankBusy } from '../world/world.ts';
import { SETTINGS } from './settings.ts';

/** A processor that asks for patience asks for this much. */
const RETRY_AFTER_MS = 1_500;

/** The services next door as one process reaches them. */
export function simServices(world: World, process: SimProcess): Services {
  const { bank, members } = world;
  const patienceMs = SETTINGS.processor.PROCESSOR_TIMEOUT_MS;
  const ask = async (apply: () => BankPayment | null): Promise<ChargeAnswer> => {
    try {
      const payment = await world.callBank(process, patienceMs, apply);
      if (payment === null) return { kind: 'unknown', error: new Error('no such payment') };
      return { kind: 'answered', payment: shown(payment) };
    } catch (error) {
      if (error instanceof BankBusy) return { kind: 'not-taken', retryAfterMs: RETRY_AFTER_MS };
      return { kind: 'unknown', error: error as Error };
    }
  };
  const find = async (look: () => BankPayment | null): Promise<Payment | null> => {
    const found = await world.callService(process, look);
    return found === null ? null : shown(found);
  };
  const facts = factsOf(world, (look) => world.callService(process, look));
  return {
    users: {
      ...facts.users,
      ban: (userId) =>
        world.callService(process, () => {
          const member = members.of(userId);
          if (member.status === null) return false;
          Object.assign(member, { status: 'BANNED', statusSinceMs: world.timeline.nowMs });
          return true;
        }),
    },
    accounts: facts.accounts,
    processor: {
      charge: (key, { userId, referenceId, rail, amount, description }) =>
        ask(() => {
          const request = { userId, reference: referenceId, rail, cents: amount, description };
          const payment = bank.charge(key, request);
          world.trace.write(
            'bank',
            `${rail} ${key} ${referenceId} ${amount} ${payment.status} ${payment.errorCode}`,
          );
          return payment;
        }),
      refund: (key, confirmationId) =>
        ask(() => {
          const payment = bank.refund(key, confirmationId);
          world.trace.write('bank', `refund ${key} ${payment?.reference} ${payment?.status}`);
          return payment;
        }),
      findByKey: (key) => find(() => bank.findByKey(key)),
      findByConfirmation: (confirmationId) => find(() => bank.findByConfirmation(confirmationId)),
    },
    notifications: { send: () => world.callService(process, () => undefined) },
  };
}

/** What is known about members; `ask` is the way to whoever knows it. */
export function factsOf(
  { members }: World,
  ask: <T>(look: () => T) => Promise<T>,
): { readonly users: Pick<UserService, 'get'>; readonly accounts: AccountService } {
  return {
    users: {
      get: (userId) =>
        ask((): UserFacts | null => {
          const { status, isEmployee } = members.of(userId);
          return status === null ? null : { status, isEmployee };
        }),
    },
    accounts: {
      primary: (userId) =>
        ask(() => {
          const { hasAccount, hasCard, balanceCents } = members.of(userId);
          if (!hasAccount) return null;
          return {
            accountId: `account-of-${userId}`,
            availableBalance: cents(Math.max(0, balanceCents)),
            hasDebitCard: hasCard,
          };
        }),
    },
  };
}

/** Looked up later a payment may have gone further; that it was made is what is asked. */
const shown = ({ confirmationId, status, errorCode, errorMessage, rail }: BankPayment): Payment => ({
  confirmationId,
  status: status === 'REFUNDED' || status === 'CHARGED_BACK' ? 'COMPLETED' : status,
  errorCode,
  errorMessage,
  accountMask: rail === 'ACH' ? '1234' : null,
  cardMask: rail === 'PINLESS' ? '9876' : null,
});
