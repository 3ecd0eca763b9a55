import type { z } from 'zod';
import { ruleRouting } from '../adapters/ach-routing/rule-routing.ts';
import type * as sections from '../config/sections.ts';
import type { FloatPolicy } from '../domain/floats/policy.ts';
import type { AchRouting } from '../ports/floats.ts';

/** By what floats are decided. */
export const floatRules = ({
  achOverride,
  floatPolicy,
}: z.output<typeof sections.floats>): {
  readonly achRouting: AchRouting;
  readonly floatPolicy: FloatPolicy;
} => ({ achRouting: ruleRouting(achOverride), floatPolicy });
