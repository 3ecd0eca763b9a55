export const findMutants = async (
  ...args: unknown[]
): Promise<{ mutant: { name: string }; by: string | null }[]> => (void args, []);
