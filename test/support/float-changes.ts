import type { Float } from '../../src/domain/floats/float.ts';
import type { FloatChange } from '../../src/domain/floats/outcomes.ts';
import { floatAchCompleted, floatAchReturned } from '../../src/domain/floats/outcomes.ts';
import { floatLockKey } from '../../src/ports/lock.ts';
import type { FloatDesk } from './float-desk.ts';
import type { World } from './world.ts';

/** A change as the application makes it: under the lock, with its row of the log. */
export async function changeFloat(
  here: World,
  desk: FloatDesk,
  float: Float,
  made: (now: Float) => FloatChange,
): Promise<void> {
  const acquired = await here.dependencies.locks.acquire(floatLockKey(float.userId));
  if ('busy' in acquired) throw new Error('somebody else works on this member');
  const before = await desk.row(float);
  await desk.floats.save(acquired.lock.fence, before, made(before));
  await acquired.lock.release();
}

/** The bank's word on the entry that was sent last: that it was paid, or the code of its return. */
export async function bankSays(
  here: World,
  desk: FloatDesk,
  float: Float,
  word: 'COMPLETED' | 'R01',
): Promise<void> {
  const sent = (await desk.log(float)).findLast(({ outcome }) => outcome === 'ACHSENT')!;
  const attempt = {
    attemptId: sent.attemptId!,
    process: sent.process,
    rail: 'ACH' as const,
    confirmationId: sent.confirmationId!,
    achModel: sent.achModel,
  };
  await changeFloat(here, desk, float, (now) =>
    word === 'COMPLETED'
      ? floatAchCompleted(now, attempt, here.now)
      : floatAchReturned(now, attempt, { returnCode: word, message: null }, here.now),
  );
}
