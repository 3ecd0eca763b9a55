import type { ProcessorGate } from '../../src/ports/processor-gate.ts';

/** Charges go out as fast as they come. */
export const openGate: ProcessorGate = {
  glance: () => Promise.resolve(),
  enter: () => Promise.resolve(),
  goOn: () => Promise.resolve(),
};
