/**
 * Does the same for each, a few at a time, and gives the results in the order of the items. When some fail the others
 * are done all the same; then the first failure is thrown.
 */
export async function aFewAtOnce<T, R>(
  atOnce: number,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Map<number, PromiseSettledResult<R>>();
  const left = items.entries();
  const takeTurns = async (): Promise<void> => {
    for (const [index, item] of left) {
      const [result] = await Promise.allSettled([work(item)]);
      results.set(index, result);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, takeTurns));
  return items.map((_, index) => {
    const result = results.get(index);
    if (result?.status !== 'fulfilled') throw result?.reason;
    return result.value;
  });
}
