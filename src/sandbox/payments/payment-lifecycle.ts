import type { CallbackDesk } from '../callbacks/callback-desk.ts';
import { settlementAfter } from '../calendar/banking-days.ts';
import type { Instant } from '../calendar/new-york-time.ts';
import { instantText } from '../clock/instant-text.ts';
import type { Journal } from '../journal.ts';
import type { SandboxUser } from '../users/user-book.ts';
import type { ScriptedBehaviour } from '../users/user-script.ts';
import type { Due } from './agenda.ts';
import type { Payment } from './payment.ts';

const DAY_MS = 86_400_000;
/** A return reaches the originator within two banking days of settlement; after that silence means paid. */
const RETURN_WINDOW_BANKING_DAYS = 2;

interface Verdict {
  readonly returnCode?: string;
  readonly bankingDays: number;
  readonly posted: boolean;
  readonly scripted?: readonly ScriptedBehaviour[];
}

/** When a completed payment will be charged back, if its user is scripted so. */
export function chargeBackPlan(
  user: SandboxUser | undefined,
  completedAt: Instant,
): { readonly charge_back_at?: string; readonly scripted?: readonly ScriptedBehaviour[] } {
  const plan = user?.script.charge_back;
  if (!user || !plan || !user.stillApplies('charge_back', plan.times)) return {};
  return { charge_back_at: instantText(completedAt + plan.after_days * DAY_MS), scripted: ['charge_back'] };
}

/** What the customer's bank makes of an ACH entry in the settlement window. */
function verdict(user: SandboxUser | undefined, payment: Payment, at: Instant): Verdict {
  const bankingDays = RETURN_WINDOW_BANKING_DAYS;
  const account = user?.script.account;
  if (!user || !account) return { returnCode: 'R03', bankingDays, posted: false };
  if (account.closed) return { returnCode: 'R02', bankingDays, posted: false };
  const posted = user.balance(at) >= payment.cents;
  const { ach } = user.script;
  if (ach.mode === 'return' && user.stillApplies('ach', ach.times)) {
    return { returnCode: ach.code, bankingDays: ach.after_banking_days, posted, scripted: ['ach'] };
  }
  return posted ? { bankingDays, posted } : { returnCode: 'R01', bankingDays, posted };
}

/** Everything that happens to a payment after it was taken. Each step is stamped with the time it fell due. */
export class PaymentLifecycle {
  readonly #journal: Journal;
  readonly #callbacks: CallbackDesk;

  constructor(journal: Journal, callbacks: CallbackDesk) {
    this.#journal = journal;
    this.#callbacks = callbacks;
  }

  perform(due: Due): void {
    if (due.step === 'publish') return this.#callbacks.release(due.callback_id, due.at);
    const payment = this.#journal.books.payments.find(due.confirmation_id);
    if (payment === undefined) return;
    switch (due.step) {
      case 'settle':
        return this.#settle(payment, due.at);
      case 'finish':
        return this.#finish(payment, due.at);
      case 'late-return':
        return this.#returnLate(payment, due.at);
      case 'charge-back':
        return this.#chargeBack(payment, due.at);
    }
  }

  /** Settles and reports an ACH entry at once, if the dial wants its callback before the HTTP answer. */
  hurry(payment: Payment, at: Instant): string | undefined {
    if (payment.status !== 'ACHSENT') return undefined;
    const early = this.#callbacks.earlyRule(payment, 'COMPLETED');
    if (early === undefined) return undefined;
    this.#settle(payment, at);
    this.#finish(payment, at, early);
    return payment.facts.confirmation_id;
  }

  #settle(payment: Payment, at: Instant): void {
    if (payment.status !== 'ACHSENT' || payment.settlement !== undefined) return;
    const user = this.#journal.books.users.find(payment.facts.user_id);
    const { returnCode, bankingDays, posted, scripted } = verdict(user, payment, at);
    this.#journal.record(at, {
      type: 'ach.settled',
      ...payment.facts,
      effect: 'debit',
      posted,
      final_at: instantText(bankingDays === 0 ? at : settlementAfter(at, bankingDays)),
      ...(returnCode !== undefined && { return_code: returnCode }),
      ...(scripted !== undefined && { scripted }),
    });
  }

  #finish(payment: Payment, at: Instant, early?: ReturnType<CallbackDesk['earlyRule']>): void {
    if (payment.status !== 'ACHSENT' || payment.settlement === undefined) return;
    const { returnCode, posted } = payment.settlement;
    if (returnCode === undefined) this.#complete(payment, at);
    else this.#return(payment, at, { return_code: returnCode, posted, late: false });
    this.#callbacks.announce(payment, returnCode === undefined ? 'COMPLETED' : 'FAILED', at, early);
  }

  #complete(payment: Payment, at: Instant): void {
    const user = this.#journal.books.users.find(payment.facts.user_id);
    const late = user?.script.late_return;
    const returnsLate = user && late && user.stillApplies('late_return', late.times);
    const chargeBack = chargeBackPlan(user, at);
    const scripted: ScriptedBehaviour[] = [...(chargeBack.scripted ?? [])];
    if (returnsLate) scripted.push('late_return');
    this.#journal.record(at, {
      type: 'ach.completed',
      ...payment.facts,
      status: 'COMPLETED',
      ...(returnsLate && {
        late_return_at: instantText(at + late.after_days * DAY_MS),
        late_return_code: late.code,
      }),
      ...chargeBack,
      ...(scripted.length > 0 && { scripted }),
    });
  }

  #returnLate(payment: Payment, at: Instant): void {
    if (payment.status !== 'COMPLETED' || payment.lateReturnCode === undefined) return;
    this.#return(payment, at, { return_code: payment.lateReturnCode, posted: true, late: true });
    this.#callbacks.announce(payment, 'FAILED', at);
  }

  #return(
    payment: Payment,
    at: Instant,
    how: { readonly return_code: string; readonly posted: boolean; readonly late: boolean },
  ): void {
    this.#journal.record(at, {
      type: 'ach.returned',
      ...payment.facts,
      status: 'FAILED',
      effect: 'credit',
      ...how,
    });
  }

  #chargeBack(payment: Payment, at: Instant): void {
    if (payment.status !== 'COMPLETED') return;
    this.#journal.record(at, {
      type: 'charge_back.applied',
      ...payment.facts,
      status: 'CHARGED_BACK',
      effect: 'credit',
      posted: true,
    });
    this.#callbacks.announce(payment, 'CHARGED_BACK', at);
  }
}
