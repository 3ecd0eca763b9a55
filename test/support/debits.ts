import type { Subscription } from '../../src/domain/subscription.ts';
import type { LedgerEntry, World } from './world.ts';

/** How often each record was debited at the bank, from one reading of its whole ledger. */
export async function debitsOf(
  here: World,
  records: readonly Pick<Subscription, 'subscriptionId'>[],
): Promise<number[]> {
  const counts = new Map<string, number>();
  let after: number | null = 0;
  while (after !== null) {
    const page = (await here.bank('GET', `/ledger?effect=debit&limit=5000&after=${after}`)) as {
      entries: (LedgerEntry & { reference_id: string })[];
      next: number | null;
    };
    for (const { reference_id: id } of page.entries) counts.set(id, (counts.get(id) ?? 0) + 1);
    after = page.next;
  }
  return records.map(({ subscriptionId }) => counts.get(subscriptionId) ?? 0);
}
