import type { AchOverride } from '../../domain/floats/ach-route.ts';
import { adviseByRule } from '../../domain/floats/ach-route.ts';
import type { AchRouting } from '../../ports/floats.ts';

/** The transparent rule, until a model takes its place. */
export const ruleRouting = (override: AchOverride): AchRouting => ({
  advise: (features) => Promise.resolve(adviseByRule(features, override)),
});
