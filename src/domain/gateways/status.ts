/** Where a subscription stands. */
export const GATEWAY_STATUSES = ['pending', 'trial', 'active', 'past_due', 'cancelled', 'expired'] as const;
export type GatewayStatus = (typeof GATEWAY_STATUSES)[number];

/** Of these an owner has one per SKU and application. */
const ACTIVE_STATUSES = ['pending', 'trial', 'active'] as const satisfies readonly GatewayStatus[];

export const isActive = (status: GatewayStatus): boolean => ACTIVE_STATUSES.some((one) => one === status);
