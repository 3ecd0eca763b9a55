import { z } from 'zod';
import { recordIdOf } from './floats/float-record.ts';
import { parseInstant } from './instant.ts';
import { parseCents } from './record.ts';
import type { AuditLedger, LedgerEntry } from './source.ts';

const entry = z.object({
  seq: z.int(),
  at: z.string(),
  effect: z.enum(['debit', 'credit']),
  kind: z.string(),
  user_id: z.string(),
  reference_id: z.string(),
  idempotency_key: z.string(),
  amount: z.string(),
});
const page = z.object({ entries: z.array(entry), next: z.int().nullable(), last: z.int() });

type Page = z.infer<typeof page>;

const PAGE = 5_000;
const TIMEOUT_MS = 60_000;

/** The sandbox bank's ledger. A real processor answers 404, and then there is none to read. */
export class HttpLedger implements AuditLedger {
  private readonly url: string;

  constructor(paymentsServiceUrl: string) {
    this.url = `${paymentsServiceUrl.replace(/\/$/, '')}/ledger`;
  }

  async isReadable(): Promise<boolean> {
    const response = await this.get('limit=1');
    await response.body?.cancel();
    if (response.status === 404) return false;
    if (!response.ok) throw new Error(`the ledger answers ${response.status}`);
    return true;
  }

  /**
   * Credits are read after the debits, but only up to where the debits ended: a debit that came in between would be
   * missed while its refund is counted, and the sum would be of no moment.
   */
  async *entries(): AsyncGenerator<LedgerEntry> {
    let last = 0;
    for await (const { entries, last: end } of this.pages('debit', Number.POSITIVE_INFINITY)) {
      last = end;
      yield* entries.flatMap(entriesOf);
    }
    for await (const { entries } of this.pages('credit', last)) {
      yield* entries.filter(({ seq }) => seq <= last).flatMap(entriesOf);
    }
  }

  private async *pages(effect: LedgerEntry['effect'], upTo: number): AsyncGenerator<Page> {
    let after: number | null = 0;
    while (after !== null && after < upTo) {
      const response = await this.get(`effect=${effect}&limit=${PAGE}&after=${after}`);
      if (!response.ok) throw new Error(`the ledger answers ${response.status}`);
      const read: Page = page.parse(await response.json());
      yield read;
      after = read.next;
    }
  }

  private get(query: string): Promise<Response> {
    return fetch(`${this.url}?${query}`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  }
}

type Entry = Page['entries'][number];

/** Null: of a kind that is audited elsewhere. */
function recordOf({ kind, reference_id }: Entry): string | null {
  if (kind === 'FLOAT') return recordIdOf(reference_id);
  if (kind === 'RECURRING') return `recurring.${reference_id}`;
  return kind === 'SUBSCRIPTION' ? reference_id : null;
}

function entriesOf(entry: Entry): LedgerEntry[] {
  const recordId = recordOf(entry);
  return recordId === null ? [] : [entryOf(entry, recordId)];
}

function entryOf(
  { seq, at, effect, user_id, idempotency_key, amount }: Entry,
  recordId: string,
): LedgerEntry {
  const instant = parseInstant(at);
  const cents = parseCents(amount);
  if (instant === null || cents === null) throw new Error(`ledger entry ${seq} cannot be read`);
  return {
    effect,
    userId: user_id,
    recordId,
    idempotencyKey: idempotency_key,
    cents,
    at: instant,
  };
}
