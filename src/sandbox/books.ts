import { Outbox } from './callbacks/outbox.ts';
import { SandboxClock } from './clock/sandbox-clock.ts';
import { FaultDial } from './faults/fault-dial.ts';
import type { LedgerEntry } from './ledger/entry.ts';
import { NotificationBook } from './notifications/notification-book.ts';
import { Agenda } from './payments/agenda.ts';
import { PaymentBook } from './payments/payment-book.ts';
import { UserBook } from './users/user-book.ts';

/** Everything the sandbox knows: a projection of the ledger, and nothing besides. */
export class Books {
  readonly clock = new SandboxClock();
  readonly agenda = new Agenda();
  readonly users = new UserBook();
  readonly payments = new PaymentBook(this.agenda);
  readonly outbox = new Outbox(this.agenda);
  readonly faults = new FaultDial();
  readonly notifications = new NotificationBook();

  apply(entry: LedgerEntry): void {
    this.clock.apply(entry);
    this.users.apply(entry);
    this.payments.apply(entry);
    this.outbox.apply(entry);
    this.faults.apply(entry);
    this.notifications.apply(entry);
  }
}
