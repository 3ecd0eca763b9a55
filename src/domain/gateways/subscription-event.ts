import type { ChangeEvent, StoredRecord } from '../change-event.ts';
import { textOf } from '../change-event.ts';

/** The columns that other services read; the rest of its row is how we keep it so. */
const COLUMNS = [
  'id',
  'app_id',
  'owner_type',
  'owner_id',
  'product_id',
  'sku',
  'status',
  'gateway',
  'gateway_ref',
  'started_at',
  'expires_at',
  'quantity',
  'lock_version',
] as const;

/** What others are told of a change of a gateway subscription. Null when the row has no ids. */
export function subscriptionEvent(row: StoredRecord): ChangeEvent | null {
  const [id, version] = [textOf(row, 'id'), row['lock_version']];
  if (id === '' || textOf(row, 'owner_id') === '' || typeof version !== 'number') return null;
  return {
    id: `${id}.${version}`,
    type: 'gateway-subscription-updated',
    source: 'GatewaySubscriptions',
    data: Object.fromEntries(COLUMNS.map((column) => [column, row[column] ?? null])),
  };
}
