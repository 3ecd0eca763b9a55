import type { Instant } from '../domain/instant.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { PretendUser } from './personas.ts';
import { demoMember, demoUserId } from './population.ts';

export interface SeedStore {
  hasUser(userId: string): Promise<boolean>;
  /** Whole members: never a part of one's records without the rest. */
  write(members: readonly (readonly Subscription[])[]): Promise<void>;
}

export interface SeedBank {
  putUsers(users: readonly PretendUser[]): Promise<void>;
}

export interface SeedRequest {
  readonly users: number;
  /** Members are named `<prefix>-000001` and so on. */
  readonly prefix: string;
  readonly now: Instant;
}

export interface SeedResult {
  readonly members: number;
  readonly records: number;
  /** Members that were there already. Nothing of theirs was touched. */
  readonly skipped: number;
}

const PAGE = 100;

/**
 * Makes demo members, a page at a time. The bank learns of a member before the billing records exist: a run that meets
 * a record always finds its user.
 */
export async function seedDemo(
  request: SeedRequest,
  store: SeedStore,
  bank: SeedBank,
  onProgress: (members: number) => void = () => undefined,
): Promise<SeedResult> {
  let records = 0;
  let skipped = 0;
  for (let start = 1; start <= request.users; start += PAGE) {
    const indexes = Array.from({ length: Math.min(PAGE, request.users - start + 1) }, (_, i) => start + i);
    const known = await Promise.all(indexes.map((index) => store.hasUser(demoUserId(request.prefix, index))));
    const members = indexes
      .filter((_, i) => known[i] !== true)
      .map((index) => demoMember(request.prefix, index, request.now));
    if (members.length > 0) {
      await bank.putUsers(members.map(({ bankUser }) => bankUser));
      await store.write(members.map((member) => member.records));
    }
    skipped += indexes.length - members.length;
    records += members.reduce((sum, member) => sum + member.records.length, 0);
    onProgress(start + indexes.length - 1);
  }
  return { members: request.users - skipped, records, skipped };
}
