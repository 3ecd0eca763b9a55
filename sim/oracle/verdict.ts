/** Something that must never be, or should have been. */
export interface Violation {
  /** As the design numbers its rules; words for what it has no number for. */
  readonly rule: string;
  readonly userId: string | null;
  readonly recordId: string | null;
  readonly detail: string;
}

export type Report = (violation: Violation) => void;

/** The rule that a world breaks in which something is thrown that nobody catches. */
export const CRASHED = 'crashed';
/** The one that a seed breaks whose process is gone without a word: out of memory, or it never came to simulate. */
export const NO_RESULT = 'no-result';
