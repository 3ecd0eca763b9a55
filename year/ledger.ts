import { z } from 'zod';

const PAGE = 5_000;
const ANSWER_MS = 60_000;

/** The bank's ledger as it stands in the sandbox's README, read on from where the last reading ended. */
export class LedgerReader {
  private readonly url: string;

  constructor(bankUrl: string) {
    this.url = `${bankUrl.replace(/\/$/, '')}/ledger`;
  }

  /** Entries after `after` that pass the filter, and up to where that was looked at. */
  async read<S extends z.ZodType>(
    filter: Readonly<Record<string, string>>,
    entry: S,
    after = 0,
  ): Promise<{ readonly entries: readonly z.output<S>[]; readonly last: number }> {
    const page = z.object({
      entries: z.array(entry),
      next: z.int().nullable(),
      last: z.int(),
    });
    const found: z.output<S>[] = [];
    let from: number | null = after;
    let last = after;
    while (from !== null) {
      const query = new URLSearchParams({ ...filter, after: String(from), limit: String(PAGE) });
      const response = await fetch(`${this.url}?${query.toString()}`, {
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      if (!response.ok) throw new Error(`the bank's ledger answers ${response.status}`);
      const read = page.parse(await response.json());
      found.push(...read.entries);
      ({ next: from, last } = read);
    }
    return { entries: found, last };
  }
}
