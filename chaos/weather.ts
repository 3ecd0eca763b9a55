import { setTimeout as sleep } from 'node:timers/promises';
import type { Ground } from './ground.ts';
import type { BankFault, Fault } from './plan.ts';

const LOOK_EVERY_MS = 50;
/** More than a caller waits for, and longer than it asks again. */
const HELD_MS = 4_000;
const SLOW_MS = 700;
const RETRY_AFTER_MS = 400;
const LATE_MS = 36 * 3_600_000;

/** How often each service of the bank is struck while it lasts. Charges most: they are what must not happen twice. */
const STRUCK = { payments: 0.6, lookups: 0.3, users: 0.2, transactions: 0.2 } as const;

const FAULT_MS: Readonly<Partial<Record<BankFault, number>>> = {
  'timeout-before': HELD_MS,
  'timeout-after': HELD_MS,
  slow: SLOW_MS,
  'too-many': RETRY_AFTER_MS,
  'late-callback': LATE_MS,
};

/** Makes faults happen. What lasts goes on while others begin, but each victim has one trouble at a time. */
export class Weather {
  private readonly ground: Ground;
  private readonly lasting = new Set<Promise<unknown>>();
  private readonly dial = new Map<string, readonly object[]>();
  private redis: Promise<unknown> = Promise.resolve();
  private dynamodb: Promise<unknown> = Promise.resolve();
  private struck = 0;

  constructor(ground: Ground) {
    this.ground = ground;
  }

  /** Settles when it has struck: a victim that is down or in trouble is waited for. */
  async strike(fault: Fault): Promise<void> {
    const { crew, stack, redis } = this.ground;
    switch (fault.what) {
      case 'killed':
        await this.untilAtWork(fault);
        return crew.kill(fault.role, fault.place);
      case 'stopped':
        await this.untilAtWork(fault);
        return this.lasts(crew.stop(fault.role, fault.place, fault.forMs));
      case 'redis-killed':
        await this.redis;
        this.redis = stack.crash('redis', fault.forMs);
        return this.lasts(this.redis);
      case 'redis-flushed':
        await this.redis;
        await redis.flushall();
        return;
      case 'dynamodb-paused':
        await this.dynamodb;
        this.dynamodb = stack.pause('dynamodb', fault.forMs);
        return this.lasts(this.dynamodb);
      case 'bank':
        return this.spoil(fault.fault, fault.forMs);
    }
  }

  /** Everything that still lasts is over. */
  async calm(): Promise<void> {
    while (this.lasting.size > 0) await Promise.all(this.lasting);
  }

  private async untilAtWork({ role, place }: Extract<Fault, { role: unknown }>): Promise<void> {
    while (!this.ground.crew.isAtWork(role, place)) await sleep(LOOK_EVERY_MS);
  }

  private async spoil(fault: BankFault, forMs: number): Promise<void> {
    this.struck += 1;
    const id = `storm-${this.struck}`;
    this.dial.set(id, rulesFor(id, fault));
    await this.turnDial();
    const over = sleep(forMs).then(() => {
      this.dial.delete(id);
      return this.turnDial();
    });
    this.lasts(over);
  }

  private turnDial(): Promise<void> {
    return this.ground.bank.setFaults([...this.dial.values()].flat());
  }

  private lasts(trouble: Promise<unknown>): void {
    const noted = trouble.finally(() => this.lasting.delete(noted));
    // A failure is reported by `calm`.
    noted.catch(() => undefined);
    this.lasting.add(noted);
  }
}

function rulesFor(id: string, fault: BankFault): object[] {
  const ms = FAULT_MS[fault];
  const rule = { fault, ...(ms === undefined ? {} : { ms }) };
  if (fault.endsWith('-callback')) return [{ ...rule, id, service: 'callbacks' }];
  return Object.entries(STRUCK).map(([service, probability]) => ({
    ...rule,
    id: `${id}-${service}`,
    service,
    probability,
  }));
}
