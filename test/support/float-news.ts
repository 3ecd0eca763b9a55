import { randomUUID } from 'node:crypto';
import { PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { floatKeys, writeFloat } from '../../src/adapters/dynamodb/float-items.ts';
import type { PaymentEventDependencies } from '../../src/app/apply-payment-event.ts';
import { dateOf } from '../../src/domain/calendar-date.ts';
import type { Float, FloatStatus, LogEntry } from '../../src/domain/floats/float.ts';
import { isOpenFloat } from '../../src/domain/floats/float.ts';
import { recordIdOf } from '../../src/domain/floats/record-id.ts';
import type { Instant } from '../../src/domain/instant.ts';
import { formatInstant } from '../../src/domain/instant.ts';
import type { PastAttempt } from '../../src/domain/attempt.ts';
import type { SubscriptionId } from '../../src/domain/subscription.ts';
import type { AchWatch } from '../../src/ports/ach-watches.ts';
import type { EventOutcome, InboxEvent } from '../../src/ports/inbox.ts';
import type { Attempt } from '../../src/ports/pipeline.ts';
import type { FloatDesk } from './float-desk.ts';
import { floatDesk } from './float-desk.ts';
import type { PaymentDesk } from './payment-desk.ts';
import { paymentDesk } from './payment-desk.ts';
import type { World } from './world.ts';

export const FLOAT_NEWS = ['DEBIT_COMPLETED', 'DEBIT_RETURNED', 'CREDIT_RETURNED'] as const;
export type FloatNews = (typeof FLOAT_NEWS)[number];

/** What the payments stream says about floats, floats that it can speak of, and what is known of them afterwards. */
export interface FloatNewsDesk {
  readonly desk: FloatDesk;
  readonly payments: PaymentDesk;
  /** Sets the time for us and for the bank. */
  at(instant: Instant): Promise<void>;
  /** A member's float that is due today. Without a card, unless the bank's settings say otherwise. */
  due(settings?: object, fields?: Partial<Float>): Promise<Float>;
  /** The same, sent to the bank. */
  sent(settings?: object, fields?: Partial<Float>): Promise<Float>;
  /** The same, charged; and whoever charged died before they wrote the answer down. */
  unanswered(settings?: object): Promise<Float>;
  /** The float with another status, whoever gave it that. */
  put(float: Float, fields: { readonly status: FloatStatus } & Partial<Float>): Promise<Float>;
  receive(news: FloatNews, float: Float, fields?: object): Promise<InboxEvent>;
  /** What the bank has published about the float so far. */
  receiveFromBank(float: Float): Promise<InboxEvent[]>;
  apply(event: InboxEvent, other?: Partial<PaymentEventDependencies>): Promise<EventOutcome>;
  tell(news: FloatNews, float: Float, fields?: object): Promise<EventOutcome>;
  outcomes(float: Float): Promise<LogEntry['outcome'][]>;
  entries(float: Float): Promise<readonly PastAttempt[]>;
  openAttempt(float: Float): Promise<Attempt | null>;
  watch(float: Float): Promise<AchWatch | null>;
  /** The code because of which no ACH debit goes to the member's account. */
  block(float: Pick<Float, 'userId'>): Promise<string | null>;
  userStatus(float: Float): Promise<string | undefined>;
}

/** `here` needs the tables of floats. */
export function floatNews(here: World): FloatNewsDesk {
  const desk = floatDesk(here);
  const payments = paymentDesk(here);
  const { pipeline, accounts, users } = here.dependencies;
  const background = ({ userId, floatId }: Float) =>
    pipeline.readBackground({ userId, subscriptionId: recordIdOf(floatId), triggerId: '', accountId: null });
  const self: FloatNewsDesk = {
    desk,
    payments,
    async at(instant) {
      here.now = instant;
      await here.bank('PUT', '/clock', { now: formatInstant(instant), frozen: true });
    },
    due: (settings = {}, fields = {}) =>
      desk.float({ has_debit_card: false, ...settings }, { dueDate: dateOf(here.now), ...fields }),
    async sent(settings = {}, fields = {}) {
      const float = await self.due(settings, fields);
      const { verdict } = await desk.collect('TODAY6AM', float);
      if (verdict !== 'sent') throw new Error(`the float was not sent: ${verdict}`);
      return desk.row(float);
    },
    async unanswered(settings = {}) {
      const float = await self.due(settings);
      here.onStep = (step) => {
        if (step === 'charged') throw new Error('killed');
      };
      const ended = await desk.collect('TODAY6AM', float).then(
        ({ verdict, reason }) => `${verdict}: ${reason}`,
        (error: unknown) => (error as Error).message,
      );
      here.onStep = () => undefined;
      if (ended !== 'killed') throw new Error(`it should have died: ${ended}`);
      return desk.row(float);
    },
    async put(float, fields) {
      const { client, tables } = here.store;
      const Item = writeFloat({ ...(await desk.row(float)), ...fields }, 'by the test');
      await client.send(new PutItemCommand({ TableName: tables.floats, Item }));
      await client.send(
        new UpdateItemCommand({
          TableName: tables.floats,
          Key: marshall(floatKeys.openOf(float.userId)),
          UpdateExpression: `${isOpenFloat(fields.status) ? 'ADD' : 'DELETE'} open_floats :id`,
          ExpressionAttributeValues: { ':id': { SS: [float.floatId] } },
        }),
      );
      return desk.row(float);
    },
    receive(news, { userId, floatId, confirmationId }, fields = {}) {
      const isReturn = news !== 'DEBIT_COMPLETED';
      const data = {
        confirmation_id: news === 'CREDIT_RETURNED' ? `credit-${floatId}` : confirmationId,
        user_id: userId,
        float_id: floatId,
        status: isReturn ? 'FAILED' : 'COMPLETED',
        amount: '60.00',
        ...(isReturn ? { return_code: 'R01', error_message: 'insufficient funds' } : {}),
        ...fields,
      };
      return payments.receiveRaw({ type: `FLOAT_${news}`, userId, data });
    },
    receiveFromBank: ({ userId, floatId }) =>
      payments.receiveFromBank({ userId, subscriptionId: floatId as string as SubscriptionId }),
    apply: (event, other) => payments.apply(event, other),
    tell: async (news, float, fields) => self.apply(await self.receive(news, float, fields)),
    outcomes: async (float) => (await desk.log(float)).map(({ outcome }) => outcome),
    entries: async (float) => (await background(float)).state.past,
    openAttempt: async (float) => (await background(float)).state.open,
    watch: ({ floatId }) => pipeline.watches.get(recordIdOf(floatId)),
    async block({ userId }) {
      const { accountId } = (await accounts.primary(userId))!;
      const query = { userId, subscriptionId: randomUUID() as SubscriptionId, triggerId: '', accountId };
      return (await pipeline.readBackground(query)).achBlock;
    },
    userStatus: async ({ userId }) => (await users.get(userId))?.status,
  };
  return self;
}
