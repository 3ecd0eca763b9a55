import type { RecordChange } from '../../domain/change-event.ts';
import { textOf } from '../../domain/change-event.ts';
import { subscriptionEvent } from '../../domain/gateways/subscription-event.ts';
import type { Deliver } from '../bridge/shard-reader.ts';
import type { Telling, Told } from '../publish-changes.ts';
import { publishTold } from '../publish-changes.ts';

/** Tells others of every change of a gateway subscription, in the order of its owner's. */
export const publishGatewayChanges = (telling: Telling): Deliver<RecordChange> =>
  publishTold(telling, ({ after }) => tell(after));

function tell(after: RecordChange['after']): Told {
  if (after === null) return { fate: 'removed' };
  const event = subscriptionEvent(after);
  return event === null ? { fate: 'without-ids' } : { event, key: textOf(after, 'owner_id') };
}
