import type { Instant } from '../calendar/new-york-time.ts';
import type { AnchoredScript, LedgerEntry } from '../ledger/entry.ts';
import { centsFrom, type Cents } from '../money.ts';
import { balanceAt, type Movement } from './balance.ts';
import type { ScriptedBehaviour } from './user-script.ts';

interface RecordedMovement extends Movement {
  readonly seq: number;
}

/** One customer: the script, and what has happened to the account. */
export class SandboxUser {
  #script: AnchoredScript;
  #scriptSeq: number;
  #banned = false;
  readonly #movements: RecordedMovement[] = [];
  readonly #uses = new Map<ScriptedBehaviour, number>();

  constructor(script: AnchoredScript, seq: number) {
    this.#script = script;
    this.#scriptSeq = seq;
  }

  get script(): AnchoredScript {
    return this.#script;
  }

  get status(): AnchoredScript['status'] {
    return this.#banned ? 'BANNED' : this.#script.status;
  }

  /**
   * A balance that was set is what the account held at its instant: older movements are part of it already, later
   * ones and those that were recorded since come on top.
   */
  balance(now: Instant): Cents {
    const start = Date.parse(this.#script.balance.at);
    const onTop = this.#movements.filter(({ at, seq }) => at > start || seq > this.#scriptSeq);
    return balanceAt(this.#script.balance, onTop, now);
  }

  /** Whether a behaviour that is limited to the first k times still applies. */
  stillApplies(behaviour: ScriptedBehaviour, times: number | undefined): boolean {
    return times === undefined || (this.#uses.get(behaviour) ?? 0) < times;
  }

  rewrite(script: AnchoredScript, seq: number): void {
    this.#script = script;
    this.#scriptSeq = seq;
    this.#banned = false;
    this.#uses.clear();
  }

  ban(): void {
    this.#banned = true;
  }

  move(movement: RecordedMovement): void {
    this.#movements.push(movement);
  }

  use(behaviour: ScriptedBehaviour): void {
    this.#uses.set(behaviour, (this.#uses.get(behaviour) ?? 0) + 1);
  }
}

/** Every customer, rebuilt from the ledger. */
export class UserBook {
  readonly #users = new Map<string, SandboxUser>();

  get size(): number {
    return this.#users.size;
  }

  find(userId: string): SandboxUser | undefined {
    return this.#users.get(userId);
  }

  apply(entry: LedgerEntry): void {
    if (entry.type === 'user.set') {
      const known = this.#users.get(entry.user_id);
      if (known) known.rewrite(entry.script, entry.seq);
      else this.#users.set(entry.user_id, new SandboxUser(entry.script, entry.seq));
      return;
    }
    if (entry.type === 'user.banned') this.#users.get(entry.user_id)?.ban();
    if ('effect' in entry) this.#move(entry);
    if ('scripted' in entry) {
      for (const behaviour of entry.scripted ?? []) this.#users.get(entry.user_id)?.use(behaviour);
    }
  }

  #move(entry: Extract<LedgerEntry, { readonly effect?: unknown }>): void {
    if (entry.posted !== true) return;
    const cents = centsFrom(entry.amount) * (entry.effect === 'debit' ? -1 : 1);
    this.#users.get(entry.user_id)?.move({ at: Date.parse(entry.at), cents, seq: entry.seq });
  }
}
