import { byInstant, parseInstant, plusMs } from './instant.ts';
import { instant, optionalText, text } from './record.ts';
import type { PlainItem } from './source.ts';

/**
 * A worker that looked just before a freeze may still write its intent; so long it may take. And the clocks of two
 * processes differ: an intent just after a freeze was lifted may bear a time from just before.
 */
const GRACE_MS = 2_000;

interface Entry {
  /** `global`, a rail, or one user. */
  readonly whom: string;
  readonly action: string;
  readonly at: bigint;
  /** Of a freeze: when the operator was told that it holds. Null: they were not told, and it may have come much later. */
  readonly acknowledgedAt: bigint | null;
  readonly until: bigint | null;
}

interface Interval {
  readonly from: bigint;
  readonly to: bigint | null;
}

/** When what was frozen. Kept whole: operators write it, a few lines a day at most. */
export class FreezeLog {
  private readonly intervals = new Map<string, Interval[]>();

  static async read(items: AsyncIterable<PlainItem>): Promise<FreezeLog> {
    const entries: Entry[] = [];
    for await (const item of items) entries.push(entryOf(item));
    return new FreezeLog(entries.sort((a, b) => byInstant(a.at, b.at)));
  }

  private constructor(entries: readonly Entry[]) {
    for (const { whom, action, at, acknowledgedAt, until } of entries) {
      const known = this.intervals.get(whom) ?? [];
      const current = known.at(-1);
      const isUnsure = action === 'frozen' && acknowledgedAt === null;
      // A new freeze takes the place of the one before, as a lift ends it. Whether an unsure one did is not known.
      const end = isUnsure ? until : plusMs(at, -GRACE_MS);
      if (current !== undefined && end !== null && (current.to === null || current.to > end))
        known[known.length - 1] = { ...current, to: end };
      if (action === 'frozen' && acknowledgedAt !== null)
        known.push({ from: plusMs(acknowledgedAt, GRACE_MS), to: until });
      this.intervals.set(whom, known);
    }
  }

  /** The freeze that forbade an intent at this moment: `global`, the rail, or `user`. Null: none did. */
  forbids(at: bigint, rail: string, userId: string): string | null {
    const frozen = (whom: string): boolean =>
      (this.intervals.get(whom) ?? []).some(({ from, to }) => at >= from && (to === null || at < to));
    if (frozen('global')) return 'global';
    if (frozen(rail)) return rail;
    return frozen(userKey(userId)) ? 'user' : null;
  }
}

const userKey = (userId: string): string => `user ${userId}`;

/** An entry that cannot be read stops the audit: without it, it is not known what was forbidden. */
function entryOf(item: PlainItem): Entry {
  try {
    return readEntry(item);
  } catch (error) {
    throw new Error(`the freeze log has an entry that cannot be read (${String(item['sk'])})`, {
      cause: error,
    });
  }
}

function readEntry(item: PlainItem): Entry {
  const scope = text(item, 'scope');
  return {
    whom: scope === 'user' ? userKey(text(item, 'userId')) : scope,
    action: text(item, 'action'),
    at: instant(item, 'at'),
    acknowledgedAt: parseInstant(optionalText(item, 'acknowledgedAt')),
    until: parseInstant(optionalText(item, 'until')),
  };
}
