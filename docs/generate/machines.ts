import { FLOAT_BIRTH_STATUS, FLOAT_TRANSITIONS } from '../../src/domain/floats/transitions.ts';
import { TRANSITIONS as GATEWAY_TRANSITIONS } from '../../src/domain/gateways/transitions.ts';
import { GATEWAY_STATUSES } from '../../src/domain/gateways/status.ts';
import { RECURRING_BIRTH_STATUS, RECURRING_TRANSITIONS } from '../../src/domain/recurring/transitions.ts';
import { BIRTH_STATUSES, TRANSITIONS } from '../../src/domain/transitions.ts';
import type { Edge, StateMachine } from './state-machine.ts';
import { edgesOf } from './state-machine.ts';

const billing = edgesOf(TRANSITIONS);

export const BILLING: StateMachine = {
  // INACTIVE, which no row holds, has no arrows.
  statuses: [...new Set(billing.map(({ from }) => from))],
  births: BIRTH_STATUSES,
  edges: billing,
};

export const FLOATS: StateMachine = {
  statuses: Object.keys(FLOAT_TRANSITIONS),
  births: [FLOAT_BIRTH_STATUS],
  edges: edgesOf(FLOAT_TRANSITIONS),
};

export const RECURRING: StateMachine = {
  statuses: Object.keys(RECURRING_TRANSITIONS),
  births: [RECURRING_BIRTH_STATUS],
  edges: edgesOf(RECURRING_TRANSITIONS),
};

/** Its table goes by what a gateway says; the picture goes by where a subscription stands. */
export const GATEWAYS: StateMachine = {
  statuses: GATEWAY_STATUSES,
  births: ['pending'],
  edges: GATEWAY_STATUSES.flatMap((from) =>
    GATEWAY_STATUSES.flatMap((to): Edge[] => {
      const words = Object.entries(GATEWAY_TRANSITIONS).filter(([, row]) => row[from] === to);
      return words.length === 0 ? [] : [{ from, to, causes: words.map(([word]) => word) }];
    }),
  ),
};
