/** Every queue, in the groups in which people see them. The names are part of the outside: dashboards rely on them. */
export const QUEUE_GROUPS = {
  collections: [
    'collection-pages',
    'collections-scheduled',
    'collections-retry',
    'collections-pause',
    'collections-webhook',
    'collections-webhook-balance',
    'collections-batch',
    'manual-repayments',
  ],
  floats: ['float-pages', 'float-collections'],
  recurring: ['recurring-pages', 'recurring-payments', 'recurring-reminders'],
  events: ['membership-events', 'ach-events'],
  gateways: ['gateway-events'],
  upkeep: ['notifications', 'janitor'],
} as const;

export type QueueGroup = keyof typeof QUEUE_GROUPS;
export type QueueName = (typeof QUEUE_GROUPS)[QueueGroup][number];

export const QUEUE_NAMES: readonly QueueName[] = Object.values(QUEUE_GROUPS).flat();

export const isQueueName = (name: string): name is QueueName =>
  (QUEUE_NAMES as readonly string[]).includes(name);
