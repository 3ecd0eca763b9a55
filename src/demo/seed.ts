import type { FloatId } from '../domain/floats/float.ts';
import type { Instant } from '../domain/instant.ts';
import type { Cents } from '../domain/money.ts';
import type { UserId } from '../domain/subscription.ts';
import type { FloatLife } from './float-life.ts';
import { confirmed, lastAnswer } from './float-life.ts';
import type { PretendUser } from './personas.ts';
import type { DemoMember } from './population.ts';
import { demoMember, demoUserId } from './population.ts';

export interface SeedStore {
  hasUser(userId: string): Promise<boolean>;
  /** Whole members: never a part of what is theirs without the rest. */
  write(members: readonly Pick<DemoMember, 'records' | 'floats' | 'recurring'>[]): Promise<void>;
}

export interface SeedBank {
  putUsers(users: readonly PretendUser[]): Promise<void>;
  /** Gives the bank's name for it. The same key sends it once. */
  sendDebit(key: string, debit: FloatDebit): Promise<string>;
}

/** An ACH debit for a float. */
export interface FloatDebit {
  readonly userId: UserId;
  readonly floatId: FloatId;
  readonly amount: Cents;
}

export interface SeedRequest {
  readonly users: number;
  /** Members are named `<prefix>-000001` and so on. */
  readonly prefix: string;
  readonly now: Instant;
  /** Default: the people of the demo. */
  readonly memberOf?: typeof demoMember;
}

export interface SeedResult {
  readonly members: number;
  readonly records: number;
  readonly floats: number;
  readonly recurring: number;
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
  const { memberOf = demoMember } = request;
  let records = 0;
  let floats = 0;
  let recurring = 0;
  let skipped = 0;
  for (let start = 1; start <= request.users; start += PAGE) {
    const indexes = Array.from({ length: Math.min(PAGE, request.users - start + 1) }, (_, i) => start + i);
    const known = await Promise.all(indexes.map((index) => store.hasUser(demoUserId(request.prefix, index))));
    const members = indexes
      .filter((_, i) => known[i] !== true)
      .map((index) => memberOf(request.prefix, index, request.now));
    if (members.length > 0) {
      await bank.putUsers(members.map(({ bankUser }) => bankUser));
      await store.write(await Promise.all(members.map((member) => withDebits(member, bank))));
    }
    skipped += indexes.length - members.length;
    records += members.reduce((sum, member) => sum + member.records.length, 0);
    floats += members.reduce((sum, member) => sum + member.floats.length, 0);
    recurring += members.reduce((sum, member) => sum + member.recurring.length, 0);
    onProgress(start + indexes.length - 1);
  }
  return { members: request.users - skipped, records, floats, recurring, skipped };
}

/** What is on its way through the bank must be known there, or it would be on its way for ever. */
const withDebits = async (member: DemoMember, bank: SeedBank): Promise<DemoMember> => ({
  ...member,
  floats: await Promise.all(member.floats.map((life) => sentIfOnItsWay(life, bank))),
});

async function sentIfOnItsWay(life: FloatLife, bank: SeedBank): Promise<FloatLife> {
  const { userId, floatId, amount, status } = life.float;
  if (status !== 'ACHSENT') return life;
  const { attemptId } = lastAnswer(life).attempt;
  return confirmed(life, await bank.sendDebit(attemptId, { userId, floatId, amount }));
}
