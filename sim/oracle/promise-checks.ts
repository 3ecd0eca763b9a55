import type { Change } from './items.ts';
import { text } from './items.ts';
import type { Report } from './verdict.ts';

/** A member says so, for the first time. */
interface Closing {
  readonly userId: string;
  readonly atMs: number;
}

const NONE: ReadonlySet<string> = new Set();

/** What others rely on: accepted requests are carried out, published events are applied, in each user's order. */
export class PromiseChecks {
  private readonly report: Report;
  /** Since when. */
  private readonly promised = new Map<string, number>();
  private readonly published = new Map<string, number>();
  /** Requests that were answered, events that were dealt with: delivered again they are nothing new. */
  private readonly closed = new Set<string>();
  private readonly done = new Set<string>();
  private readonly unreadable = new Set<string>();
  private readonly closings = new Map<string, Closing>();
  /** By user: the record by which they came back last, and when it was made. */
  private readonly comeBacks = new Map<string, { readonly recordId: string; readonly atMs: number }>();
  private readonly gone = new Set<string>();
  private entriesAsked = 0;
  private readonly newestApplied = new Map<string, string>();

  constructor(report: Report) {
    this.report = report;
  }

  promise(requestId: string, atMs: number): void {
    if (!this.closed.has(requestId)) this.promised.set(requestId, atMs);
  }

  publish(identity: string, atMs: number): void {
    if (!this.done.has(identity)) this.published.set(identity, atMs);
  }

  /** Nobody can make anything of this one: an operator has to look at it. */
  malformed(identity: string): void {
    this.unreadable.add(identity);
  }

  /** With this event a member closes the account. */
  closing(identity: string, closing: Closing): void {
    if (!this.closings.has(identity)) this.closings.set(identity, closing);
  }

  /** Whoever asks to come back, and whose charge is begun, has an account again. */
  cameBack(userId: string, recordId: string, atMs: number): void {
    this.comeBacks.set(userId, { recordId, atMs });
    this.gone.delete(userId);
  }

  /** The house knows that this member has closed the account. */
  hasClosed(userId: string): boolean {
    return this.gone.has(userId);
  }

  /** How often the house heard something of the world outside: an event, or the bank's answer about an entry. */
  get newsHeard(): number {
    return this.done.size + this.entriesAsked;
  }

  /** `closed`: the records that are closed with their account by the same request. */
  look({ before, after }: Change, closed: ReadonlySet<string> = NONE): void {
    const [pk, sk] = [text(after, 'pk'), text(after, 'sk')];
    if (sk === 'REQUEST' && text(after, 'status') !== 'accepted') {
      this.closed.add(text(after, 'requestId'));
      this.promised.delete(text(after, 'requestId'));
    }
    if (pk.startsWith('EVENT#') && sk === 'DONE')
      this.dealtWith(pk.slice('EVENT#'.length), text(before, 'as'), text(after, 'as'), closed);
    if (text(before, 'sk') === 'WATCH' && after === null) this.entriesAsked += 1;
    if (pk.startsWith('APPLIED#') && before === null && after !== null) this.applied(pk, sk);
  }

  private dealtWith(identity: string, before: string, after: string, closed: ReadonlySet<string>): void {
    if (before === 'applied' && after === 'applied')
      this.report({ rule: 'once', userId: null, recordId: null, detail: `${identity} was applied twice` });
    if (after === 'quarantined' && !this.unreadable.has(identity))
      this.broken(`event ${identity} is a good one and was put aside`);
    const closing = this.closings.get(identity);
    if (closing !== undefined && after === 'applied' && !this.wasSaidBefore(closing, closed))
      this.gone.add(closing.userId);
    this.done.add(identity);
    this.published.delete(identity);
  }

  /**
   * To close an account takes no lock: what was said before its owner came back, and looked at the records before that too, may be
   * written after it. It knows nothing of the record by which they came back.
   */
  private wasSaidBefore({ userId, atMs }: Closing, closed: ReadonlySet<string>): boolean {
    const back = this.comeBacks.get(userId);
    return back !== undefined && atMs <= back.atMs && !closed.has(back.recordId);
  }

  private applied(list: string, sequence: string): void {
    const newest = this.newestApplied.get(list);
    if (newest !== undefined && newest > sequence)
      this.report({
        rule: 'order',
        userId: list.split('#').at(-1) ?? null,
        recordId: null,
        detail: `${list}: an event was applied after a later one`,
      });
    this.newestApplied.set(list, sequence);
  }

  /** Of everything that is older than this. */
  atTheEnd(beforeMs: number): void {
    for (const [requestId, atMs] of this.promised)
      if (atMs < beforeMs) this.broken(`request ${requestId} was accepted and never answered`);
    for (const [identity, atMs] of this.published)
      if (atMs < beforeMs) this.broken(`event ${identity} was published and never applied`);
  }

  private broken(detail: string): void {
    this.report({ rule: 'promise', userId: null, recordId: null, detail });
  }
}
