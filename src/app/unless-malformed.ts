import { MalformedRowError } from '../errors.ts';

/** For explanations: a row that cannot be read hides nothing else. */
export async function unlessMalformed<T>(
  read: () => Promise<T>,
  otherwise: T,
): Promise<{ readonly value: T; readonly unreadable: readonly Error[] }> {
  try {
    return { value: await read(), unreadable: [] };
  } catch (error) {
    if (!(error instanceof MalformedRowError)) throw error;
    return { value: otherwise, unreadable: [error] };
  }
}
