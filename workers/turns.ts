/**
 * One piece of work per user, or whatever the key names, at a time within this process: two due records of one member
 * come one after the other out of the index, and without this the second would find the lock busy and wait for a whole
 * lease.
 */
export class Turns {
  private readonly tails = new Map<string, Promise<void>>();

  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.tails.get(key) ?? Promise.resolve();
    const mine = before.then(work);
    const tail = mine.then(
      () => undefined,
      () => undefined,
    );
    this.tails.set(key, tail);
    try {
      return await mine;
    } finally {
      if (this.tails.get(key) === tail) this.tails.delete(key);
    }
  }
}
