import type { Stage } from './float.ts';

export const FLOAT_PROCESSES = ['float-tomorrow', 'float-today', 'float-retry'] as const;
export type FloatProcess = (typeof FLOAT_PROCESSES)[number];

/** At which stage a run considers its floats. Signals and paybacks come one by one, not in runs. */
export const STAGE_OF_RUN: Record<FloatProcess, Stage> = {
  'float-tomorrow': 'TOMORROW',
  'float-today': 'TODAY6AM',
  'float-retry': 'RETRY',
};

export const isFloatProcess = (process: string): process is FloatProcess =>
  Object.hasOwn(STAGE_OF_RUN, process);
