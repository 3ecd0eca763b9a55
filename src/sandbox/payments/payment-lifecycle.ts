import type { CallbackDesk, EarlyRule } from '../callbacks/callback-desk.ts';
import { settlementAfter } from '../calendar/banking-days.ts';
import type { Instant } from '../calendar/new-york-time.ts';
import { instantText } from '../clock/instant-text.ts';
import type { Journal } from '../journal.ts';
import type { SandboxUser } from '../users/user-book.ts';
import type { ScriptedBehaviour } from '../users/user-script.ts';
import type { Due } from './agenda.ts';
import { wasPosted, type Payment } from './payment.ts';

const DAY_MS = 86_400_000;
/** A return reaches the originator within two banking days of settlement; after that silence means paid. */
const RETURN_WINDOW_BANKING_DAYS = 2;

interface Verdict {
  readonly posted: boolean;
  readonly returns?: { readonly code: string; readonly bankingDays: number };
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

/** The return that comes after completion: one that was too slow for the window, or one that is scripted late. */
function lateReturnPlan(
  user: SandboxUser | undefined,
  { settlement }: Payment,
  completedAt: Instant,
): {
  readonly late_return_at?: string;
  readonly late_return_code?: string;
  readonly scripted?: readonly ScriptedBehaviour[];
} {
  if (settlement?.returnCode !== undefined && settlement.returnsAt !== undefined) {
    return { late_return_at: instantText(settlement.returnsAt), late_return_code: settlement.returnCode };
  }
  const plan = user?.script.late_return;
  if (!user || !plan || !user.stillApplies('late_return', plan.times)) return {};
  return {
    late_return_at: instantText(completedAt + plan.after_days * DAY_MS),
    late_return_code: plan.code,
    scripted: ['late_return'],
  };
}

function returned(code: string, posted: boolean): Verdict {
  return { posted, returns: { code, bankingDays: RETURN_WINDOW_BANKING_DAYS } };
}

/** What the customer's bank makes of an ACH entry in the settlement window. */
function verdict(user: SandboxUser | undefined, payment: Payment, at: Instant): Verdict {
  const account = user?.script.account;
  if (!user || !account) return returned('R03', false);
  if (account.closed) return returned('R02', false);
  const posted = user.balance(at) >= payment.cents;
  const { ach } = user.script;
  if (ach.mode === 'return' && user.stillApplies('ach', ach.times)) {
    const returns = { code: ach.code, bankingDays: ach.after_banking_days };
    return { posted, returns, scripted: ['ach'] };
  }
  return posted ? { posted } : returned('R01', false);
}

function windowAfter(at: Instant, bankingDays: number): Instant {
  return bankingDays === 0 ? at : settlementAfter(at, bankingDays);
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
    const early = this.#callbacks.earlyRule(payment, { status: 'COMPLETED', at });
    if (early === undefined) return undefined;
    this.#settle(payment, at);
    this.#finish(payment, at, early);
    return payment.facts.confirmation_id;
  }

  #settle(payment: Payment, at: Instant): void {
    if (payment.status !== 'ACHSENT' || payment.settlement !== undefined) return;
    const user = this.#journal.books.users.find(payment.facts.user_id);
    const { posted, returns, scripted } = verdict(user, payment, at);
    const days = Math.min(returns?.bankingDays ?? RETURN_WINDOW_BANKING_DAYS, RETURN_WINDOW_BANKING_DAYS);
    this.#journal.record(at, {
      type: 'ach.settled',
      ...payment.facts,
      effect: 'debit',
      posted,
      final_at: instantText(windowAfter(at, days)),
      ...(returns && {
        return_code: returns.code,
        returns_at: instantText(windowAfter(at, returns.bankingDays)),
      }),
      ...(scripted && { scripted }),
    });
  }

  /** The return window closes: whatever was not returned by now counts as paid, also if a return is on its way. */
  #finish(payment: Payment, at: Instant, early?: EarlyRule): void {
    if (payment.status !== 'ACHSENT' || payment.settlement === undefined) return;
    const { returnCode, returnsAt = at, posted } = payment.settlement;
    if (returnCode === undefined || (returnsAt > at && early === undefined)) {
      this.#complete(payment, at, early);
    } else {
      this.#return(payment, at, { return_code: returnCode, posted, late: false }, early);
    }
  }

  #complete(payment: Payment, at: Instant, early?: EarlyRule): void {
    const user = this.#journal.books.users.find(payment.facts.user_id);
    const chargeBack = chargeBackPlan(user, at);
    const lateReturn = lateReturnPlan(user, payment, at);
    const scripted = [...(chargeBack.scripted ?? []), ...(lateReturn.scripted ?? [])];
    this.#journal.record(
      at,
      {
        type: 'ach.completed',
        ...payment.facts,
        status: 'COMPLETED',
        ...chargeBack,
        ...lateReturn,
        ...(scripted.length > 0 && { scripted }),
      },
      ...this.#callbacks.plan(payment, { status: 'COMPLETED', at }, early),
    );
  }

  /** Not after a refund or a charge-back: the money went back already, and goes back only once. */
  #returnLate(payment: Payment, at: Instant): void {
    if (payment.status !== 'COMPLETED' || payment.lateReturnCode === undefined) return;
    this.#return(payment, at, {
      return_code: payment.lateReturnCode,
      posted: wasPosted(payment),
      late: true,
    });
  }

  #return(
    payment: Payment,
    at: Instant,
    how: { readonly return_code: string; readonly posted: boolean; readonly late: boolean },
    early?: EarlyRule,
  ): void {
    this.#journal.record(
      at,
      { type: 'ach.returned', ...payment.facts, status: 'FAILED', effect: 'credit', ...how },
      ...this.#callbacks.plan(payment, { status: 'FAILED', at, returnCode: how.return_code }, early),
    );
  }

  /** Not after a refund or a late return, for the same reason. */
  #chargeBack(payment: Payment, at: Instant): void {
    if (payment.status !== 'COMPLETED') return;
    this.#journal.record(
      at,
      {
        type: 'charge_back.applied',
        ...payment.facts,
        status: 'CHARGED_BACK',
        effect: 'credit',
        posted: wasPosted(payment),
      },
      ...this.#callbacks.plan(payment, { status: 'CHARGED_BACK', at }),
    );
  }
}
