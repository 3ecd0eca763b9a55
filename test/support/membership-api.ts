import { randomUUID } from 'node:crypto';
import { DynamoAuditTables } from '../../src/adapters/dynamodb/audit-source.ts';
import { NO_LOG } from '../../src/adapters/logging/logger.ts';
import { createMetrics } from '../../src/adapters/metrics/prometheus.ts';
import { startApi } from '../../src/api/start-api.ts';
import { settleAttempt } from '../../src/app/settle-attempt.ts';
import type { Settlement } from '../../src/app/settle-attempt.ts';
import type { AuditSource } from '../../src/audit/audit.ts';
import { HttpLedger } from '../../src/audit/ledger.ts';
import type { Subscription, UserId } from '../../src/domain/subscription.ts';
import type { CollectionStep, OnStep } from '../../src/ports/steps.ts';
import type { StoredSubscription } from '../../src/ports/subscriptions.ts';
import { auditOf } from '../audit/bench.ts';
import type { CallOptions, Reply } from './api.ts';
import { API_TOKENS, caller } from './api.ts';
import type { MembershipDesk } from './membership-desk.ts';
import { membershipDesk } from './membership-desk.ts';
import type { Pipeline } from './pipeline.ts';
import { pipeline } from './pipeline.ts';
import type { World } from './world.ts';

/** The real API on real tables and the real bank, with the means to let it die in the middle of a charge. */
export interface MembershipApi {
  readonly system: Pipeline;
  readonly here: World;
  readonly desk: MembershipDesk;
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
  /** As an operator, for a member: `post(member, 'subscriptions/reactivate')`. */
  send(
    method: string,
    member: Pick<Subscription, 'userId'>,
    what: string,
    body?: unknown,
    key?: string,
  ): Promise<Reply>;
  /** The next request of this member dies at this step. */
  dieAt(step: CollectionStep, member: Pick<Subscription, 'userId'>): void;
  /** Something happens at this step of this member's request. */
  meanwhile(
    step: CollectionStep,
    member: Pick<Subscription, 'userId'>,
    happens: () => Promise<unknown>,
  ): void;
  /** Three charges or refunds of this member get no answer. */
  loseAnswers(
    member: Pick<Subscription, 'userId'>,
    service: 'payments' | 'refunds',
    fault?: 'timeout-after' | 'timeout-before' | 'error-before',
  ): Promise<void>;
  /** Answers come again, and the API has heard one: so many lost ones would open its breaker. */
  calmDown(): Promise<void>;
  /** What the janitor does about the open attempt on this record. */
  settle(
    record: Pick<Subscription, 'userId' | 'subscriptionId'>,
    abandonAfterMs?: number,
  ): Promise<Settlement>;
  /** A user whom the services know, without a record. */
  user(settings?: object): Promise<{ readonly userId: UserId }>;
  newest(member: Pick<Subscription, 'userId'>, status: string): Promise<StoredSubscription>;
  history(record: Pick<Subscription, 'userId' | 'subscriptionId'>): Promise<Record<string, string>[]>;
  /** What the audit has to say about this member. */
  violations(member: Pick<Subscription, 'userId'>): Promise<string[]>;
  close(): Promise<void>;
}

const HOUR_MS = 3_600_000;

export async function membershipApi(env: Readonly<Record<string, string>> = {}): Promise<MembershipApi> {
  // A charge wants two seconds left on its lease, and nobody here waits for the lock of somebody dead.
  const system = await pipeline({ LOCK_LEASE_MS: '30000', ...env });
  const { here } = system;
  const hooks = new Map<string, () => Promise<unknown>>();
  const onStep: OnStep = async (step, { userId }) => {
    const hook = hooks.get(`${step} ${userId}`);
    hooks.delete(`${step} ${userId}`);
    await hook?.();
  };
  const running = await startApi(
    { API_TOKENS, PORT: '0', API_RATE_PER_MINUTE: '1000000', ...system.environment },
    { log: NO_LOG, metrics: createMetrics(), onStep },
  );
  const call = caller(`http://127.0.0.1:${running.port}`);
  const self: MembershipApi = {
    system,
    here,
    desk: membershipDesk(here),
    call,
    send: (method, { userId }, what, body, key) =>
      call(method, `/v1/${userId}/${what}`, {
        body,
        headers: key === undefined ? {} : { 'idempotency-key': key },
      }),
    meanwhile: (step, { userId }, happens) => void hooks.set(`${step} ${userId}`, happens),
    dieAt: (step, member) => self.meanwhile(step, member, () => Promise.reject(new Error('killed'))),
    loseAnswers({ userId }, service, fault = 'timeout-after') {
      return here.faults([{ id: randomUUID(), service, fault, times: 3, match: { user_id: userId } }]);
    },
    async calmDown() {
      await here.faults([]);
      const [former] = await self.desk.member([{ billingStatus: 'CANCELLED' }]);
      const { status } = await self.send('POST', former!, 'subscriptions/reactivate', {});
      if (status !== 201) throw new Error(`the bank does not answer: ${status}`);
    },
    async settle({ userId, subscriptionId }, abandonAfterMs = 24 * HOUR_MS) {
      const attempts = await here.dependencies.pipeline.attemptsOn(subscriptionId);
      const open = attempts.find(({ resolution }) => resolution === null);
      if (open === undefined) throw new Error('no attempt is open');
      return settleAttempt(
        here.dependencies,
        { abandonAfterMs },
        { userId, subscriptionId, attemptId: open.attemptId },
      );
    },
    async user(settings = {}) {
      const userId = `member-${randomUUID()}` as UserId;
      await here.bank('PUT', `/sandbox/users/${userId}`, settings);
      return { userId };
    },
    async newest({ userId }, status) {
      const found = (await here.partition(userId)).findLast((row) => row.billingStatus === status);
      if (found === undefined) throw new Error(`no record is ${status}`);
      return found;
    },
    async history({ userId, subscriptionId }) {
      const rows = await here.store.historyRows(userId);
      return rows
        .filter((row) => row['subscription_id']?.S === subscriptionId)
        .map((row) =>
          Object.fromEntries(
            Object.entries(row).flatMap(([name, { S }]) => (S === undefined ? [] : [[name, S]])),
          ),
        );
    },
    async violations({ userId }) {
      const { violations } = await auditOf(sourceFor(here, userId), { now: here.now });
      return violations
        .filter(({ user_id }) => user_id === userId)
        .map(({ rule, subscription_id, detail }) => `rule ${rule}, ${subscription_id}: ${detail}`);
    },
    async close() {
      await running.stop();
      await system.close();
    },
  };
  return self;
}

/** The whole of the bank's ledger, and one member of the tables: what others have done is not read again and again. */
function sourceFor({ store: { client, tables }, url }: World, userId: UserId): AuditSource {
  const all = new DynamoAuditTables({ client, tables, pageSize: 100 });
  return {
    ledger: new HttpLedger(url),
    tables: {
      estimate: () => all.estimate(),
      async *users() {
        yield { userId, rows: await all.rowsOf(userId) };
      },
      rowsOf: (id) => all.rowsOf(id),
      historyOf: (id) => all.historyOf(id),
      attemptsOf: (id) => all.attemptsOf(id),
      freezeLog: () => all.freezeLog(),
      async *floats() {
        // None of these members has one, and the tables were not made.
      },
      floatOf: (id) => all.floatOf(id),
      openFloatsOf: (id) => all.openFloatsOf(id),
      logOf: (id) => all.logOf(id),
      async *accounts() {
        // Nor do they pay for anything else.
      },
      itemsOfAccount: (id) => all.itemsOfAccount(id),
      dueSince: () => all.dueSince(),
      readTogether: (keys) => all.readTogether(keys),
    },
  };
}
