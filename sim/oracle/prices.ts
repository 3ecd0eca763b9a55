/** What memberships cost, in cents, by tier and term. Whoever has no tier has the oldest. */
const BASE = { MONTHLY: 499, YEARLY: 3_999 };
const PRICES: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  '': BASE,
  'Base:v0': BASE,
  'Plus:v1': { MONTHLY: 999 },
  'Best:v1': { MONTHLY: 1_999, YEARLY: 15_999 },
};

export const priceOf = (tier: string, term: string): number | undefined => PRICES[tier]?.[term];

const DAY_MS = 86_400_000;

/** What a better tier costs until the next period: for each day, by UTC, a thirtieth of what it costs more than the oldest. */
export function prorationOf(tier: string, nowMs: number, upcomingMs: number): number {
  const days = Math.floor(upcomingMs / DAY_MS) - Math.floor(nowMs / DAY_MS);
  const more = (priceOf(tier, 'MONTHLY') ?? 0) - BASE.MONTHLY;
  return days <= 0 ? 0 : Math.round((more * days) / 30);
}
