/** A fault that is planted in the code under test, as an edit of one line. */
export interface Mutant {
  readonly name: string;
  /** What goes wrong in the world when this is in production. */
  readonly what: string;
  readonly file: string;
  /** Stands once in the file. */
  readonly find: string;
  readonly replace: string;
  /** A test that finds it, where a simulated world cannot. */
  readonly test?: string;
}

/** The text with the fault in it. Throws where the text has changed and the list of mutants has not. */
export function planted({ name, find, replace }: Mutant, text: string): string {
  const places = text.split(find).length - 1;
  if (places !== 1)
    throw new Error(`mutant ${name}: its text stands ${places} times in its file, and must stand once`);
  return text.replace(find, () => replace);
}
