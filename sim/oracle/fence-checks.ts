import type { Change } from './items.ts';
import { LOCK_PREFIX, text } from './items.ts';
import type { Report } from './verdict.ts';

/** Closing an account takes no lock, by design. */
const UNLOCKED_CAUSES: ReadonlySet<string> = new Set(['account-closed']);

/** Section 5: whoever changes a record holds its user's lock at that moment, however long its request was on its way. */
export class FenceChecks {
  private readonly report: Report;
  /** Which process holds whose lock. */
  private readonly holders = new Map<string, string>();

  constructor(report: Report) {
    this.report = report;
  }

  lockChanged({ before, after }: Change, process: string): void {
    const key = text(after ?? before, 'PartitionKey');
    if (!key.startsWith(LOCK_PREFIX)) return;
    const userId = key.slice(LOCK_PREFIX.length);
    if (after === null || text(after, 'isReleased') !== '') this.holders.delete(userId);
    else if (text(after, 'ownerName') !== text(before, 'ownerName') || text(before, 'isReleased') !== '')
      this.holders.set(userId, process);
  }

  look(history: readonly Change[], process: string): void {
    for (const { after } of history) {
      const userId = text(after, 'user_id');
      if (UNLOCKED_CAUSES.has(text(after, 'data_cause'))) continue;
      const holder = this.holders.get(userId);
      if (holder !== process)
        this.report({
          rule: 'fence',
          userId,
          recordId: text(after, 'subscription_id'),
          detail: `${process} wrote while ${holder ?? 'nobody'} held the lock`,
        });
    }
  }
}
