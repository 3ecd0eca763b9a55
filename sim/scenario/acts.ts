import { isDeepStrictEqual } from 'node:util';
import { DUE_INDEX } from '../../src/adapters/dynamodb/subscriptions.ts';
import type { FreezeTarget } from '../../src/ports/freezes.ts';
import type { UserId } from '../../src/domain/subscription.ts';
import type { Random } from '../random.ts';
import type { ApiDesk } from '../roles/api-desk.ts';
import type { SimMember } from '../world/sim-members.ts';
import type { World } from '../world/world.ts';
import { TABLES } from '../world/world.ts';

/** What people do, and how often each member does so in ninety days. */
const PER_NINETY_DAYS = {
  cancel: 0.12,
  retract: 0.05,
  pause: 0.15,
  unpause: 0.1,
  'unpause-charge': 0.08,
  'close-account': 0.04,
  'ignored-event': 0.1,
  'pay-by-hand': 0.5,
  income: 0.3,
  'new-account': 0.15,
  'status-changes': 0.15,
  'money-changes': 2,
  'card-changes': 0.2,
} as const;
type Act = keyof typeof PER_NINETY_DAYS;

const EVENT_OF: Readonly<Partial<Record<Act, string>>> = {
  cancel: 'CANCEL',
  retract: 'RETRACT',
  pause: 'SUB_PAUSED',
  unpause: 'UNPAUSE',
  'unpause-charge': 'UNPAUSE_CHARGE',
  'close-account': 'CLOSEACCOUNT',
};

const FREEZES_PER_NINETY_DAYS = 8;
const RUNS_BY_HAND_PER_NINETY_DAYS = 25;
/** Longer than most periods are to run: who is in it becomes due. */
const QUARANTINE_CLEARED_PER_NINETY_DAYS = 3;
/** Of those who are about to be charged: so many think of something just then, within so long. */
const LAST_MINUTE = 0.05;
const LAST_MINUTE_MS = 20_000;
const HOUR_MS = 3_600_000;
const IN_PARTS = 0.6;
const UNDECIDED = 0.4;
const MIND_MS = 4_000;

/** Members and operators, acting by chance. */
export class Acts {
  private readonly world: World;
  private readonly desk: ApiDesk;
  private readonly random: Random;
  private readonly frozen: FreezeTarget[] = [];
  private events = 0;
  private requests = 0;

  constructor(world: World, desk: ApiDesk) {
    this.world = world;
    this.desk = desk;
    this.random = world.random('acts');
  }

  /** Plans what is done in the next `spanMs`, which stand for `days` of the members' lives. */
  plan(days: number, spanMs: number): void {
    for (const member of this.world.members.all()) {
      for (const [act, often] of Object.entries(PER_NINETY_DAYS) as [Act, number][])
        if (this.random.chance((often * days) / 90)) this.later(spanMs, () => this.do(act, member));
    }
    if (this.random.chance((FREEZES_PER_NINETY_DAYS * days) / 90))
      this.later(spanMs, () => this.freezeSome());
    if (this.random.chance((RUNS_BY_HAND_PER_NINETY_DAYS * days) / 90))
      this.later(spanMs, () => this.desk.run(this.random.pick(['retry', 'scheduled'])));
    if (this.random.chance((QUARANTINE_CLEARED_PER_NINETY_DAYS * days) / 90))
      this.later(spanMs, () => this.desk.clearQuarantine());
  }

  /** A run begins, and some of those whom it will charge act at the same time: that is when order matters. */
  planLastMinute(): void {
    for (const userId of this.due()) {
      if (!this.random.chance(LAST_MINUTE)) continue;
      const act = this.random.pick(['cancel', 'pause', 'pay-by-hand'] as const);
      this.later(LAST_MINUTE_MS, () => this.do(act, this.world.members.of(userId)));
    }
  }

  private later(spanMs: number, work: () => void): void {
    this.world.timeline.after(this.random.next() * spanMs, work);
  }

  private do(act: Act, member: SimMember): void {
    const { random } = this;
    const { userId } = member;
    switch (act) {
      case 'cancel':
      case 'retract':
      case 'pause':
      case 'unpause':
      case 'unpause-charge':
        this.tell(member, EVENT_OF[act] ?? '');
        return this.changeMind(member);
      case 'close-account':
        // The user service ends the membership as well; which of the two is heard of first is anybody's guess.
        if (random.chance(0.7)) this.setStatus(member, 'PAUSED');
        return this.tell(member, 'CLOSEACCOUNT');
      case 'ignored-event':
        return this.tell(member, random.pick(['UPGRADE', 'PAYNOW', 'REACTIVATE']));
      case 'pay-by-hand': {
        const record = this.recordOf(userId);
        if (record !== null) this.desk.pay(userId, record, `manual.${(this.requests += 1)}`);
        return;
      }
      case 'income':
        return this.tellOfIncome(userId);
      case 'new-account':
        member.hasAccount = true;
        return this.desk.signal(userId, `balance-${(this.requests += 1)}`, 'balance');
      case 'status-changes':
        return this.setStatus(
          member,
          member.status === 'ACTIVE' ? random.pick(['INVESTIGATE', 'PAUSED', 'PROCESSING']) : 'ACTIVE',
        );
      case 'money-changes':
        member.balanceCents = random.chance(0.3) ? random.between(0, 700) : random.between(1_000, 90_000);
        member.balanceSinceMs = this.world.timeline.nowMs;
        return;
      case 'card-changes':
        member.hasCard = !member.hasCard;
        return;
    }
  }

  /** Some get their wages in parts, and the house hears of each: more often on a day than it may try. */
  private tellOfIncome(userId: string): void {
    this.desk.signal(userId, `income-${(this.requests += 1)}`, 'income');
    if (this.random.chance(IN_PARTS)) this.world.timeline.after(HOUR_MS, () => this.tellOfIncome(userId));
  }

  /** Some do one thing after the other within seconds: only in this order does it make sense. */
  changeMind(member: SimMember): void {
    let afterMs = 0;
    while (this.random.chance(UNDECIDED)) {
      afterMs += this.random.next() * MIND_MS;
      const type = this.random.pick(['CANCEL', 'RETRACT', 'SUB_PAUSED', 'UNPAUSE', 'UNPAUSE_CHARGE']);
      this.world.timeline.after(afterMs, () => this.tell(member, type));
    }
  }

  tell({ userId }: SimMember, type: string): void {
    const id = `event-${(this.events += 1)}`;
    const isMalformed = this.random.chance(this.world.dials.malformedEvents);
    if (isMalformed) this.world.noteFault('event-malformed');
    const data = {
      user_id: userId,
      term: 'MONTHLY',
      pause_duration_months: isMalformed ? 'three' : this.random.between(0, 3),
    };
    this.world.publish('users', userId, { id, type, source: 'UserService', data }, isMalformed);
  }

  setStatus(member: SimMember, status: string): void {
    Object.assign(member, { status, statusSinceMs: this.world.timeline.nowMs });
    this.world.trace.write('world', `status ${member.userId} ${status}`);
  }

  private due(): string[] {
    const tomorrow = new Date(this.world.timeline.nowMs + 24 * HOUR_MS).toISOString();
    const items = this.billing({
      IndexName: DUE_INDEX,
      KeyConditionExpression: 'billing_status = :s AND billing_date < :t',
      ExpressionAttributeValues: { ':s': { S: 'SCHEDULED' }, ':t': { S: tomorrow } },
    });
    return items.map(({ user_id: userId }) => userId?.S ?? '');
  }

  private recordOf(userId: string): string | null {
    const items = this.billing({
      KeyConditionExpression: 'user_id = :u',
      ExpressionAttributeValues: { ':u': { S: userId } },
    });
    const payable = items.filter(
      ({ billing_status: status }) => status?.S === 'SCHEDULED' || status?.S === 'ERROR',
    );
    const [any] = payable.length > 0 ? [this.random.pick(payable)] : items;
    return any?.['subscription_id']?.S ?? null;
  }

  private billing(query: object): Record<string, { S?: string }>[] {
    const { Items: items = [] } = this.world.dynamo.execute('Query', {
      TableName: TABLES.billing,
      ...query,
    }) as { Items?: Record<string, { S?: string }>[] };
    return items;
  }

  private freezeSome(): void {
    const { random, world } = this;
    const target: FreezeTarget = random.pick([
      { scope: 'global' },
      { scope: 'ACH' },
      { scope: 'PINLESS' },
      { scope: 'user', userId: random.pick(world.members.all()).userId as UserId },
    ] as const);
    if (this.frozen.some((other) => isDeepStrictEqual(other, target))) return;
    this.desk.freeze(target, () => {
      this.frozen.push(target);
      world.timeline.after((1 + 60 * random.next()) * HOUR_MS, () => this.lift(target));
    });
  }

  private lift(target: FreezeTarget): void {
    const at = this.frozen.indexOf(target);
    if (at === -1) return;
    this.frozen.splice(at, 1);
    this.desk.unfreeze(target);
  }
}
