import type { Random } from '../random.ts';
import type { MembershipDesk } from '../roles/membership-desk.ts';
import type { LedgerEntry } from '../world/sim-bank.ts';
import type { SimMember } from '../world/sim-members.ts';
import type { World } from '../world/world.ts';
import { TABLES } from '../world/world.ts';
import type { Acts } from './acts.ts';

type Row = Readonly<Record<string, { readonly S?: string; readonly BOOL?: boolean }>>;

const DAY_MS = 86_400_000;
/** Whoever wants money back says so within so long. */
const REFUND_DAYS = 6;
/** How many ask once more, or somebody else asks for the same, under a key of their own. */
const TWICE = 0.25;
/** Of those who are where they want to be already, or cannot get there. */
const NEEDLESS = 0.05;
const WRONG_AMOUNT = 0.05;
const CLOSES_AT_ONCE = 0.05;
const BASE_CENTS = 499;
const BETTER = [
  { tierName: 'Plus:v1', monthlyCents: 999 },
  { tierName: 'Best:v1', monthlyCents: 1_999 },
] as const;
const CHEAPER = [
  { tierName: 'Base:v0', monthlyCents: 499 },
  { tierName: 'Plus:v1', monthlyCents: 999 },
] as const;

/** Members who want another plan, or to come back; operators who are asked to give money back. */
export class Wishes {
  private readonly world: World;
  private readonly desk: MembershipDesk;
  private readonly acts: Acts;
  private readonly random: Random;
  private readonly comingBack = new Set<SimMember>();
  private keys = 0;

  constructor(world: World, desk: MembershipDesk, acts: Acts) {
    this.world = world;
    this.desk = desk;
    this.acts = acts;
    this.random = world.random('wishes');
  }

  /** Plans what is asked for in the next `spanMs`, which stand for `days` of the members' lives. */
  plan(days: number, spanMs: number): void {
    const { refunds, comeBacks, upgrades, downgrades } = this.world.dials.wishes;
    const often = (perNinetyDays: number): boolean => this.random.chance((perNinetyDays * days) / 90);
    const later = (work: () => void): void =>
      void this.world.timeline.after(this.random.next() * spanMs, work);
    this.hearWhoCameBack();
    for (const member of this.world.members.all()) {
      if (often(comeBacks)) later(() => this.comeBack(member));
      if (often(upgrades)) later(() => this.upgrade(member));
      if (often(downgrades)) later(() => this.downgrade(member));
    }
    for (const payment of this.lately())
      if (this.random.chance((refunds * days) / REFUND_DAYS))
        this.once(spanMs, (key) => this.desk.refund(payment.userId, payment.reference, key));
  }

  /** Some ask twice: it is the same wish all the same. */
  private once(spanMs: number, ask: (key: string) => void): void {
    const times = this.random.chance(TWICE) ? 2 : 1;
    for (let i = 0; i < times; i += 1) {
      const key = `wish.${(this.keys += 1)}`;
      this.world.timeline.after(this.random.next() * spanMs, () => ask(key));
    }
  }

  /** What the bank took in the last days, whatever has become of it. */
  private lately(): LedgerEntry[] {
    const { bank, timeline } = this.world;
    const sinceMs = timeline.nowMs - REFUND_DAYS * DAY_MS;
    const first = bank.ledger.findLastIndex(({ atMs }) => atMs < sinceMs) + 1;
    return bank.ledger.slice(first).filter(({ effect }) => effect === 'debit');
  }

  private comeBack(member: SimMember): void {
    const { userId } = member;
    const hasLeft = !this.rowsOf(userId).some((row) => isToCome(row) && !isLeaving(row));
    const isInVain = !hasLeft || !member.hasCard || !member.hasAccount;
    if (isInVain && !this.random.chance(NEEDLESS)) return;
    // What the user service calls a membership that was cancelled.
    if (hasLeft && member.status === 'ACTIVE' && this.random.chance(0.5))
      this.acts.setStatus(member, 'PAUSED');
    this.comingBack.add(member);
    this.once(MIND_MS, (key) => this.desk.comeBack(userId, key));
    this.acts.changeMind(member);
    if (this.random.chance(CLOSES_AT_ONCE)) this.acts.tell(member, 'CLOSEACCOUNT');
  }

  /** The user service hears that somebody has paid again. */
  private hearWhoCameBack(): void {
    for (const member of this.comingBack) {
      const rows = this.rowsOf(member.userId);
      const isPaid = rows.some(
        (row) => text(row, 'process') === 'REACTIVATION' && text(row, 'billing_status') === 'COMPLETED',
      );
      if (!isPaid) continue;
      this.comingBack.delete(member);
      if (member.status === 'PAUSED') this.acts.setStatus(member, 'ACTIVE');
    }
  }

  private upgrade(member: SimMember): void {
    const { random } = this;
    const upcoming = this.upcomingOf(member);
    if (upcoming === null) return;
    const { tierName, monthlyCents } = random.pick(BETTER);
    // Who takes a downgrade back may have paid for it.
    const isFree = upcoming['is_pending_downgrade']?.BOOL === true && random.chance(0.7);
    const dueCents = isFree ? 0 : this.prorated(monthlyCents, upcoming);
    const cents = random.chance(WRONG_AMOUNT) ? dueCents + 1 : dueCents;
    this.once(MIND_MS, (key) => this.desk.upgrade(member.userId, { tierName, cents }, key));
    this.acts.changeMind(member);
  }

  /** (Monthly price − 4.99) ÷ 30 for each day until the next period, in UTC days. */
  private prorated(monthlyCents: number, upcoming: Row): number {
    const today = Math.floor(this.world.timeline.nowMs / DAY_MS);
    const days = Math.floor(Date.parse(text(upcoming, 'billing_date')) / DAY_MS) - today;
    return days <= 0 ? 0 : Math.round(((monthlyCents - BASE_CENTS) * days) / 30);
  }

  private downgrade(member: SimMember): void {
    const upcoming = this.upcomingOf(member);
    if (upcoming === null) return;
    const { tierName, monthlyCents } = this.random.pick(CHEAPER);
    const isInVain = monthlyCents >= Number(text(upcoming, 'billing_amount')) * 100;
    if (!isInVain || this.random.chance(NEEDLESS)) this.desk.downgrade(member.userId, tierName);
  }

  private upcomingOf({ userId }: SimMember): Row | null {
    const scheduled = this.rowsOf(userId).filter((row) => text(row, 'billing_status') === 'SCHEDULED');
    return scheduled.find((row) => !isLeaving(row) && text(row, 'initial_run_date') < '0002') ?? null;
  }

  private rowsOf(userId: string): Row[] {
    const { Items: items = [] } = this.world.dynamo.execute('Query', {
      TableName: TABLES.billing,
      KeyConditionExpression: 'user_id = :u',
      ExpressionAttributeValues: { ':u': { S: userId } },
    }) as { Items?: Row[] };
    return items;
  }
}

/** Within so long the same is asked for again, or something else is said. */
const MIND_MS = 4_000;

const text = (row: Row, name: string): string => row[name]?.S ?? '';

const isToCome = (row: Row): boolean => ['SCHEDULED', 'PAUSED'].includes(text(row, 'billing_status'));

const isLeaving = (row: Row): boolean => text(row, 'updated_event') === 'PENDING_CANCELLATION';
