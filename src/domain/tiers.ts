import type { Cents } from './money.ts';
import type { Term } from './subscription.ts';

/** What a membership costs: by tier, version and term. Not every tier is sold for every term. */
export type Tiers = Readonly<
  Record<string, Readonly<Record<string, Readonly<Partial<Record<Term, Cents>>>>>>
>;

/** Records name tier and version (`Plus:v1`) or neither: then the member never chose one and has the first of all. */
const BASE_TIER = 'Base:v0';

/** Null: not listed. A price is looked up or asked for, never guessed. */
export function priceOf(tiers: Tiers, tierName: string, term: Term): Cents | null {
  const [tier = '', version = ''] = (tierName === '' ? BASE_TIER : tierName).split(':');
  return tiers[tier]?.[version]?.[term] ?? null;
}

/** As records write it. */
export const tierNameOf = (tier: string, version: string): string => `${tier}:${version}`;

/** What the house began with; whatever is better is measured against it. */
export const basePrice = (tiers: Tiers, term: Term): Cents | null => priceOf(tiers, BASE_TIER, term);
