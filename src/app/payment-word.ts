import type { Attempt } from '../ports/pipeline.ts';
import type { Lock } from '../ports/lock.ts';
import type { Payment } from '../ports/services.ts';
import type { Write } from '../ports/transaction.ts';
import type { KnownPayment } from './ach-entry.ts';
import type { AccountToBlock } from './record-ach-outcome.ts';

/** What goes along with the change that an event makes. */
export interface Along {
  /** Says of which event it is, where the product keeps that. */
  readonly data: Readonly<Record<string, string>>;
  readonly also: readonly Write[];
}

/** What an event says, in the terms of the product whose record it is about. */
export interface PaymentWord<E extends KnownPayment> {
  readonly recordId: string;
  readonly confirmationId: string;
  /** What happened, for the outcome. */
  readonly what: string;
  /** Why the member is banned for it. Null: it is no reason to. */
  readonly ban: string | null;
  /** Null when there is no such record. */
  read(lock: Lock): Promise<E | null>;
  /** Whether the record is known to have to do with what the word is about. */
  concerns(entry: E): boolean;
  /** Writes down what the processor says about the record's open attempt. */
  answer(entry: E, open: Attempt, payment: Payment): Promise<unknown>;
  /** Why it changes nothing. */
  obstacle(entry: E): string | null;
  toBlock(entry: E): AccountToBlock | null;
  /** One fenced transaction. */
  change(entry: E, along: Along): Promise<unknown>;
}
