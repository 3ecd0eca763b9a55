import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { attribute, RELEASED } from './lock-row.ts';

/*
 * One row per lock. Every write is conditional on the part of its life that the row must be in:
 *
 *      no row        held by A: a new version every heartbeat       A is dead           held by B
 *   ───────────┬─ v1 ── v2 ── v3 ── v4 ─┬──────────────────   v4 ─ ─ ─ ─ ─ ─ ─ ─ ┬─ v5 ── v6 ─────►
 *              │        └─────┴─────┘   │                     │  A's lease + grace │
 *           acquire        heartbeat    │ release             B saw v4        take over
 *           IS_ABSENT      IS_STILL v1  │ IS_STILL v4         acquire: busy   IS_STILL v4
 *        or IS_RELEASED   and IS_OWNED  │ and IS_OWNED
 *                                       ▼
 *                                   v5, isReleased = "1"  ── acquire ──►  a new row, nothing of the old one is left
 *
 * A change by another client in between changes the version or the owner, so a late or repeated write finds its clause
 * false and does nothing. The same four clauses as dynamolock's, so both sides exclude each other.
 */
const IS_ABSENT = 'attribute_not_exists(#key)';
const IS_RELEASED = '#isReleased = :released';
const IS_STILL_THAT_VERSION = '#version = :seen';
const IS_OWNED_BY_ME = '#ownerName = :me';

export interface Condition {
  readonly expression: string;
  readonly names: Record<string, string>;
  readonly values: Record<string, AttributeValue>;
}

/** Not held: never used, or given back. */
export const isFree = (): Condition => ({
  expression: `${IS_ABSENT} OR ${IS_RELEASED}`,
  names: { '#key': attribute.key, '#isReleased': attribute.isReleased },
  values: { ':released': { S: RELEASED } },
});

/** Its holder has not renewed it since `version` was seen. */
export const isStill = (version: string): Condition => ({
  expression: IS_STILL_THAT_VERSION,
  names: { '#version': attribute.version },
  values: { ':seen': { S: version } },
});

/** It is this acquisition's, and nothing of ours was written in between. */
export const isMine = (version: string, ownerName: string): Condition => ({
  expression: `${IS_STILL_THAT_VERSION} AND ${IS_OWNED_BY_ME}`,
  names: { '#version': attribute.version, '#ownerName': attribute.ownerName },
  values: { ':seen': { S: version }, ':me': { S: ownerName } },
});
