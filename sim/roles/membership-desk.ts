import { downgrade } from '../../src/app/desk/downgrade.ts';
import { reactivate } from '../../src/app/desk/reactivate.ts';
import { refundPayment } from '../../src/app/desk/refund-payment.ts';
import { Refusal } from '../../src/app/desk/refusal.ts';
import { upgrade } from '../../src/app/desk/upgrade.ts';
import { cents } from '../../src/domain/money.ts';
import type { SubscriptionId, UserId } from '../../src/domain/subscription.ts';
import type { World } from '../world/world.ts';
import type { ApiDesk, Tools } from './api-desk.ts';

/** What was asked for and what was answered: the oracle holds the house to both. */
export interface MembershipHooks {
  readonly onRefundAsked: (recordId: string, key: string) => void;
  readonly onRefundAnswered: (recordId: string, attemptId: string, isTaken: boolean) => void;
  readonly onComeBackAsked: (userId: string, key: string) => void;
  readonly onCameBack: (userId: string, recordId: string) => void;
  readonly onUpgradeAsked: (userId: string, key: string) => void;
  /** Up or down. */
  readonly onPlanAsked: (userId: string, tierName: string) => void;
}

const MEMBER = { who: 'member' };
const OPERATOR = { who: 'operator', reason: 'simulated' };

/** The API's routes that give money back, let members come back, and change what they pay. A key is the caller's. */
export class MembershipDesk {
  private readonly world: World;
  private readonly desk: ApiDesk;
  private readonly hooks: MembershipHooks;

  constructor(world: World, desk: ApiDesk, hooks: MembershipHooks) {
    this.world = world;
    this.desk = desk;
    this.hooks = hooks;
  }

  refund(userId: string, recordId: string, key: string): void {
    this.hooks.onRefundAsked(recordId, key);
    this.ask(`refund ${userId} ${recordId} ${key}`, async ({ memberships }) => {
      const wish = { triggerId: key, by: OPERATOR, ...idsOf(userId, recordId) };
      const { attemptId, status } = await refundPayment(memberships, wish);
      this.hooks.onRefundAnswered(recordId, attemptId, status === 'sent');
    });
  }

  comeBack(userId: string, key: string): void {
    this.hooks.onComeBackAsked(userId, key);
    this.ask(`come back ${userId} ${key}`, async ({ memberships }) => {
      const wish = { userId: userId as UserId, triggerId: key, by: MEMBER };
      const { isKnown, record } = await reactivate(memberships, wish);
      if (isKnown) this.hooks.onCameBack(userId, record.subscriptionId);
    });
  }

  upgrade(userId: string, plan: { readonly tierName: string; readonly cents: number }, key: string): void {
    const { tierName } = plan;
    this.hooks.onUpgradeAsked(userId, key);
    this.hooks.onPlanAsked(userId, tierName);
    this.ask(`upgrade ${userId} ${tierName} ${plan.cents} ${key}`, async ({ memberships }) => {
      const amount = cents(plan.cents);
      await upgrade(memberships, { userId: userId as UserId, tierName, amount, triggerId: key, by: MEMBER });
    });
  }

  downgrade(userId: string, tierName: string): void {
    this.hooks.onPlanAsked(userId, tierName);
    this.ask(`downgrade ${userId} ${tierName}`, async ({ memberships }) => {
      await downgrade(memberships, { userId: userId as UserId, tierName, by: MEMBER });
    });
  }

  /** A refusal is an answer, unless it says to come again. */
  private ask(what: string, call: (tools: Tools) => Promise<void>): void {
    this.desk.ask(what, async (tools) => {
      try {
        await call(tools);
        this.world.trace.write('caller', `done: ${what}`);
      } catch (error) {
        if (!(error instanceof Refusal) || error.refused === 'user-busy') throw error;
        this.world.trace.write('caller', `refused: ${what}: ${error.refused} ${error.message}`);
      }
    });
  }
}

const idsOf = (userId: string, recordId: string) => ({
  userId: userId as UserId,
  subscriptionId: recordId as SubscriptionId,
});
