import type { z } from 'zod';
import type * as sections from '../../config/sections.ts';
import type { Gateway, Verify } from '../../ports/gateways.ts';
import type { Log } from '../../ports/log.ts';

export type GatewaySettings = z.output<typeof sections.gateways>;

/** What a gateway's folder gives. `docs/add-a-gateway.md` says how to write one. */
export interface GatewayAdapter extends Gateway {
  /** How to tell its webhooks from forged ones. Null: its secrets are not configured. */
  open(settings: GatewaySettings, log: Log): Promise<Verify | null>;
}
