/** How fast charges may go out, over all workers together, and whether the processor can be reached at all. */
export interface ProcessorGate {
  /**
   * Before anything is read or locked: is there any point in beginning? Throws as `enter` would, and takes no place. It
   * spares everybody the work that would be thrown away.
   */
  glance(): Promise<void>;
  /**
   * Before a charge, and before its intent is written: whoever is turned away leaves nothing behind. Throws a
   * ProcessorBusyError when the agreed rate is used up for longer than one should wait, and a ProcessorDownError while
   * the processor does not answer.
   */
  enter(signal: AbortSignal): Promise<void>;
  /** Before the next request of an attempt that is under way: it waits for its turn, because it has to be finished. */
  goOn(signal: AbortSignal): Promise<void>;
}
