import { BadCursorError } from '../src/errors.ts';

/** Thrown by a handler to show a page that says why not. */
export class PageError extends Error {
  readonly status: number;
  readonly title: string;
  readonly back: string;

  constructor(status: number, title: string, text: string, back = '/') {
    super(text);
    this.name = 'PageError';
    this.status = status;
    this.title = title;
    this.back = back;
  }
}

export const notThere = (text: string, back = '/'): PageError => new PageError(404, 'Not there', text, back);

/** Whatever was thrown, as what is shown. What went wrong inside stays inside. */
export function pageErrorOf(error: unknown, isStoreDown: boolean): PageError {
  if (error instanceof PageError) return error;
  if (error instanceof BadCursorError)
    return new PageError(400, 'No such page', 'The link to this page is broken.');
  const status = error instanceof Error && 'status' in error ? error.status : null;
  if (typeof status === 'number' && status >= 400 && status < 500)
    return new PageError(status, 'Not understood', 'The request cannot be read.');
  return isStoreDown
    ? new PageError(
        503,
        'Not now',
        'DynamoDB does not answer. Look whether it was done before you try again.',
      )
    : new PageError(
        500,
        'Something went wrong',
        'The log says what. Look whether it was done before you try again.',
      );
}
