/** A sign of life. A number that no longer changes is a process that no longer lives: no clocks are compared. */
export interface SignOfLife {
  readonly bridgeId: string;
  readonly beat: number;
}

/** Which bridges read a stream. It decides on shares only: two that both believe to own a shard are kept apart by its lease. */
export interface Attendance {
  sign(stream: string, sign: SignOfLife): Promise<void>;
  list(stream: string): Promise<readonly SignOfLife[]>;
  /** Unless it has given another sign meanwhile. */
  remove(stream: string, sign: SignOfLife): Promise<void>;
}
