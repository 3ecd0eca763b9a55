import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isAlive, processRecord } from './process-record.ts';

const owner = z.object({ guard: processRecord, parent: processRecord });

export type Owner = Readonly<z.infer<typeof owner>>;

/**
 * Takes the folder for `me`, or says who has it. Node has no file lock that the kernel frees at death, and deleting a
 * dead owner's lock file is the classic race (two see it dead, the slower one deletes the faster one's new lock). So
 * nobody deletes a lock to get it: owners are numbered files, the highest number owns, and it owns for as long as its
 * guard lives.
 *
 *   1.json (dead)    both contenders see 1 dead and link 2.json; link() lets exactly one win
 *   2.json (alive)   the loser looks again and finds a live owner
 *
 * Only files below the highest are ever removed. So a contender that slept through it all and links a low number that was
 * tidied away still sees the higher one afterwards, and gives way.
 */
export function takeOwnership(owners: string, me: Owner): 'taken' | Owner {
  mkdirSync(owners, { recursive: true });
  for (;;) {
    const latest = highest(owners);
    const holder = latest === 0 ? null : readOwner(owners, latest);
    if (holder === 'removed') continue;
    if (holder !== null && isAlive(holder.guard)) return holder;
    if (!linkExclusively(owners, latest + 1, me)) continue;
    if (highest(owners) === latest + 1) {
      removeBelow(owners, latest + 1);
      return 'taken';
    }
    rmSync(fileOf(owners, latest + 1), { force: true });
  }
}

const fileOf = (owners: string, number: number): string => join(owners, `${number}.json`);

function numbers(owners: string): number[] {
  return readdirSync(owners).flatMap((name) => (/^\d+\.json$/.test(name) ? [Number.parseInt(name, 10)] : []));
}

const highest = (owners: string): number => Math.max(0, ...numbers(owners));

/** Linked from a finished draft, so that the file appears with its content or not at all. */
function linkExclusively(owners: string, number: number, me: Owner): boolean {
  const draft = join(owners, `draft-${me.guard.pid}`);
  writeFileSync(draft, JSON.stringify(me));
  try {
    linkSync(draft, fileOf(owners, number));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function readOwner(owners: string, number: number): Owner | 'removed' {
  try {
    return owner.parse(JSON.parse(readFileSync(fileOf(owners, number), 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'removed';
    throw new Error(
      `${fileOf(owners, number)} is not readable: make sure nothing runs here, then remove it`,
      {
        cause: error,
      },
    );
  }
}

function removeBelow(owners: string, number: number): void {
  for (const lower of numbers(owners)) if (lower < number) rmSync(fileOf(owners, lower), { force: true });
}
