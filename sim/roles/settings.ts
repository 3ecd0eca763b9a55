import { readConfig } from '../../src/config/read-config.ts';
import * as sections from '../../src/config/sections.ts';
import { STALL_MS } from '../world/world.ts';

const NOWHERE = 'http://127.0.0.1:9';

/** Production's configuration with production's defaults, but for times that would only make a simulated day longer. */
export const SETTINGS = readConfig(
  {
    USER_SERVICE_URL: NOWHERE,
    PAYMENTS_SERVICE_URL: NOWHERE,
    TXN_SERVICE_URL: NOWHERE,
    NOTIFICATIONS_URL: NOWHERE,
    LOCK_LEASE_MS: '30000',
    LOCK_HEARTBEAT_MS: '10000',
    PROCESSOR_TIMEOUT_MS: '4000',
    QUEUE_STALL_MS: String(STALL_MS),
    COLLECTION_CONCURRENCY: '8',
    PAGE_SIZE: '20',
    // As it is by default, and one more to go up to, which is sold for a year as well.
    TIERS: JSON.stringify({
      Base: { v0: { MONTHLY: '4.99', YEARLY: '39.99' } },
      Plus: { v1: { MONTHLY: '9.99' } },
      Best: { v1: { MONTHLY: '19.99', YEARLY: '159.99' } },
    }),
  },
  {
    dynamodb: sections.dynamodb,
    lock: sections.lock,
    janitor: sections.janitor,
    processor: sections.processor,
    policy: sections.policy,
    floats: sections.floats,
    recurring: sections.recurring,
    ownership: sections.ownership,
    tiers: sections.tiers,
    workers: sections.workers,
  },
);

/** A bridge looks around less often than in life: its leases are beaten through every simulated minute. */
export const BRIDGE_PACE = {
  readEveryMs: 200,
  idleMs: 5_000,
  roundMs: 45_000,
  shardListMs: 90_000,
  deadAfterMs: 120_000,
} as const;
