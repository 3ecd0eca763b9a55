/** Something that must never be, or should have been. */
export interface Violation {
  /** As the design numbers its rules; words for what it has no number for. */
  readonly rule: string;
  readonly userId: string | null;
  readonly recordId: string | null;
  readonly detail: string;
}

export type Report = (violation: Violation) => void;
