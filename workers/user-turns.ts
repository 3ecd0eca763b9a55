/**
 * One piece of work per user at a time within this process: two due records of one member come one after the other out
 * of the index, and without this the second would find the lock busy and wait for a whole lease.
 */
export class UserTurns {
  private readonly tails = new Map<string, Promise<void>>();

  async take<T>(userId: string, work: () => Promise<T>): Promise<T> {
    const before = this.tails.get(userId) ?? Promise.resolve();
    const mine = before.then(work);
    const tail = mine.then(
      () => undefined,
      () => undefined,
    );
    this.tails.set(userId, tail);
    try {
      return await mine;
    } finally {
      if (this.tails.get(userId) === tail) this.tails.delete(userId);
    }
  }
}
