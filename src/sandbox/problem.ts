/** One field that was not acceptable. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** Thrown when a request is answered with an error the caller can act on: an RFC 9457 problem with a stable code. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: readonly FieldError[];

  constructor(status: number, code: string, detail: string, errors: readonly FieldError[] = []) {
    super(detail);
    this.name = 'Problem';
    this.status = status;
    this.code = code;
    this.errors = errors;
  }
}
