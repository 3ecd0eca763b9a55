import { DynamoNotices } from '../../src/adapters/dynamodb/notices.ts';
import { HttpService } from '../../src/adapters/services/http.ts';
import { HttpNotificationService } from '../../src/adapters/services/notification-service.ts';
import type { NotifyDependencies } from '../../src/app/notify/notify-record.ts';
import type { UserId } from '../../src/domain/subscription.ts';
import type { World } from './world.ts';

/** What the sandbox wrote down of a notification that it accepted. */
export interface Accepted {
  readonly user_id: string;
  readonly template: string;
  readonly dedupe_key: string;
  readonly duplicate: boolean;
}

export function noticeDesk(here: World): NotifyDependencies {
  const { client, tables } = here.store;
  const http = new HttpService({ url: here.url, name: 'notifications service', timeoutMs: 5_000 });
  return {
    ...here.dependencies,
    notifications: new HttpNotificationService(http),
    notices: new DynamoNotices({ client, table: tables.pipeline }),
  };
}

export async function accepted(here: World, { userId }: { readonly userId: UserId }): Promise<Accepted[]> {
  const page = await here.bank('GET', `/ledger?type=notification.accepted&user_id=${userId}`);
  return (page as { entries: Accepted[] }).entries;
}

export async function askedFor(here: World, { userId }: { readonly userId: UserId }): Promise<number> {
  const page = await here.bank('GET', `/ledger?type=notification.requested&user_id=${userId}`);
  return (page as { entries: unknown[] }).entries.length;
}
