import type { GatewayAdapter } from '../gateway-adapter.ts';
import { NAME, readEvent, showEvent } from './read-event.ts';
import { verifyWith } from './verify.ts';

export const lemonSqueezy: GatewayAdapter = {
  name: NAME,
  path: 'lemonsqueezy',
  read: readEvent,
  show: showEvent,
  open: async ({ lemonSqueezy: settings }) => (settings === null ? null : verifyWith(settings.secret)),
};
