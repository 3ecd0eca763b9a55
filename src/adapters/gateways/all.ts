import { apple } from './apple/gateway.ts';
import type { GatewayAdapter } from './gateway-adapter.ts';
import { lemonSqueezy } from './lemonsqueezy/gateway.ts';

/** Every gateway that we know. One more is one more folder, and one more line here. */
export const GATEWAYS: readonly GatewayAdapter[] = [lemonSqueezy, apple];
