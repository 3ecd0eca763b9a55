import type { PageKey } from '../ports/subscriptions.ts';

/** Every page of a list. The next is read when whoever takes them is through with the one before. */
export async function* pagesOf<P extends { readonly nextKey: PageKey | null }>(
  read: (key: PageKey | null) => Promise<P>,
): AsyncGenerator<P> {
  let key: PageKey | null = null;
  do {
    const page: P = await read(key);
    yield page;
    key = page.nextKey;
  } while (key !== null);
}
