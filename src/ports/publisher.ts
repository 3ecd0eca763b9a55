/** Something to tell others. Messages with the same key are read in the order in which they were published. */
export interface Message {
  readonly key: string;
  readonly text: string;
}

/** What Kinesis takes at most. A larger one would have the whole request refused, for ever. */
export const MESSAGE_LIMITS = { keyCharacters: 256, bytes: 1_048_576 } as const;

export interface Publisher {
  /**
   * Returns when all are stored. Throws when some could not be: those and others may be stored or not, but of no key is a
   * message stored before the ones that came before it. Publishing the same again is harmless but for the repetition.
   */
  publish(messages: readonly Message[]): Promise<void>;
}
