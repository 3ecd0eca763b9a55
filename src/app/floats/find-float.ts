import type { Float, FloatId } from '../../domain/floats/float.ts';
import type { UserId } from '../../domain/subscription.ts';
import { MalformedRowError } from '../../errors.ts';
import type { FloatsRepository } from '../../ports/floats.ts';

export interface FloatRef {
  readonly userId: UserId;
  readonly floatId: FloatId;
}

/**
 * Another user's float is told about as little as one that never was, also when it cannot be read. Throws a
 * MalformedRowError for the user's own.
 */
export async function findFloat(
  { floats }: { readonly floats: Pick<FloatsRepository, 'get'> },
  { userId, floatId }: FloatRef,
): Promise<Float | null> {
  try {
    const float = await floats.get(floatId);
    return float?.userId === userId ? float : null;
  } catch (error) {
    if (error instanceof MalformedRowError && error.row.userId !== userId) return null;
    throw error;
  }
}

/**
 * The float that the user has to pay back. Mostly there is one; where the bank took another one back meanwhile, the one
 * that has been due longest.
 */
export async function activeFloat(
  { floats }: { readonly floats: Pick<FloatsRepository, 'get' | 'openOf'> },
  userId: UserId,
): Promise<Float | null> {
  const ids = await floats.openOf(userId);
  const open = await Promise.all(ids.map((floatId) => findFloat({ floats }, { userId, floatId })));
  const [first = null] = open
    .filter((float) => float !== null)
    .sort((a, b) => (a.dueDate < b.dueDate ? -1 : 1));
  return first;
}
