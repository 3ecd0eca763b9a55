import type { LedgerFile } from './ledger-file.ts';

export interface PageRequest {
  readonly after: number;
  readonly limit: number;
  /** Top-level fields that an entry must have with exactly this value. */
  readonly where: Readonly<Record<string, string>>;
}

export interface LedgerPage {
  readonly lines: readonly string[];
  /** Pass as `after` for the next page; null at the end. */
  readonly next: number | null;
  readonly last: number;
}

const BLOCK = 5000;
/** A filtered page looks at no more than this and may come back short: one request must not read a whole year. */
const MOST_SCANNED = 100_000;

function filterOf(where: PageRequest['where']): (line: string) => boolean {
  const wanted = Object.entries(where);
  // Looking for the text first spares parsing the lines that cannot match.
  const texts = wanted.map(([field, value]) => `${JSON.stringify(field)}:${JSON.stringify(value)}`);
  return (line) => {
    if (!texts.every((text) => line.includes(text))) return false;
    if (wanted.length === 0) return true;
    const entry = JSON.parse(line) as Record<string, unknown>;
    return wanted.every(([field, value]) => entry[field] === value);
  };
}

export async function ledgerPage(ledger: LedgerFile, request: PageRequest): Promise<LedgerPage> {
  const last = ledger.lastSeq;
  const accepts = filterOf(request.where);
  const filtered = Object.keys(request.where).length > 0;
  const stopAt = Math.min(last, request.after + (filtered ? MOST_SCANNED : request.limit));
  const lines: string[] = [];
  let seq = request.after;
  while (seq < stopAt && lines.length < request.limit) {
    for (const line of await ledger.lines(seq, Math.min(BLOCK, stopAt - seq))) {
      if (lines.length === request.limit) break;
      seq += 1;
      if (accepts(line)) lines.push(line);
    }
  }
  return { lines, next: seq < last ? seq : null, last };
}
