import type { Logger } from 'pino';
import type { Books } from './books.ts';
import { CallbackDesk } from './callbacks/callback-desk.ts';
import type { CallbackStream } from './callbacks/callback-stream.ts';
import { Publisher } from './callbacks/publisher.ts';
import { Journal } from './journal.ts';
import type { LedgerFile } from './ledger/ledger-file.ts';
import { PaymentLifecycle } from './payments/payment-lifecycle.ts';
import { PaymentsDesk } from './payments/payments-desk.ts';
import { RefundsDesk } from './payments/refunds-desk.ts';
import { Timeline } from './timeline.ts';

/** The parts of the pretend bank, put together once. */
export class Bank {
  readonly books: Books;
  readonly ledger: LedgerFile;
  readonly journal: Journal;
  readonly timeline: Timeline;
  readonly payments: PaymentsDesk;
  readonly refunds: RefundsDesk;
  readonly lifecycle: PaymentLifecycle;
  readonly publisher: Publisher;

  constructor(ledger: LedgerFile, books: Books, stream: CallbackStream | undefined, log: Logger) {
    this.books = books;
    this.ledger = ledger;
    this.journal = new Journal(ledger, books);
    const callbacks = new CallbackDesk(this.journal);
    this.lifecycle = new PaymentLifecycle(this.journal, callbacks);
    this.timeline = new Timeline(this.journal, this.lifecycle);
    this.payments = new PaymentsDesk(this.journal);
    this.refunds = new RefundsDesk(this.journal, callbacks);
    this.publisher = new Publisher(this.journal, this.timeline, stream, log);
  }

  start(): void {
    this.publisher.start();
    this.timeline.start();
  }

  async stop(): Promise<void> {
    this.timeline.stop();
    await this.publisher.stop();
    this.ledger.close();
  }
}
