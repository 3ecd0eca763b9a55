import type { GatewayAdapter } from '../gateway-adapter.ts';
import { NAME, readEvent, showEvent } from './read-event.ts';

export const apple: GatewayAdapter = {
  name: NAME,
  path: 'apple',
  read: readEvent,
  show: showEvent,
  async open({ apple: settings }, log) {
    if (settings === null) return null;
    // Apple's library takes a while to load; only a process that verifies needs it.
    const { verifyWith } = await import('./verify.ts');
    return verifyWith(settings, log);
  },
};
