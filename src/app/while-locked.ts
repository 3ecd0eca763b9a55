import type { Lock, LockClient, PastSighting, Sighting } from '../ports/lock.ts';

/** `busy`: somebody else holds the lock. Nothing was done. */
export async function whileLocked<T extends object>(
  locks: LockClient,
  { key, seen }: { readonly key: string; readonly seen?: PastSighting | undefined },
  work: (lock: Lock) => Promise<T>,
): Promise<T | { readonly busy: Sighting }> {
  const acquired = await locks.acquire(key, seen);
  if ('busy' in acquired) return acquired;
  try {
    return await work(acquired.lock);
  } finally {
    await acquired.lock.release();
  }
}
