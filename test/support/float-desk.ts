import { randomUUID } from 'node:crypto';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { writeFloat } from '../../src/adapters/dynamodb/float-items.ts';
import { collectFloat } from '../../src/app/floats/collect-float.ts';
import type { FloatDependencies } from '../../src/app/floats/float-case.ts';
import type { Float, FloatStatus, LogEntry, Stage } from '../../src/domain/floats/float.ts';
import type { UserId } from '../../src/domain/subscription.ts';
import type { Verdict } from '../../src/domain/verdict.ts';
import type { FloatsRepository } from '../../src/ports/floats.ts';
import { floatLockKey } from '../../src/ports/lock.ts';
import type { Item } from './billing-store.ts';
import { aFloat } from './floats.ts';
import type { LedgerEntry, World } from './world.ts';

/** Floats in a world: real tables, the real bank, the production code. */
export interface FloatDesk {
  readonly dependencies: FloatDependencies;
  readonly floats: FloatsRepository;
  /** A member who was paid an advance that is due today. Settings are the bank's, fields the float's. */
  float(settings?: object, fields?: Partial<Float>): Promise<Float>;
  /** The same as it stands after its due date, whatever brought it there. */
  standing(status: FloatStatus, settings?: object, fields?: Partial<Float>): Promise<Float>;
  /** Writes a float's row as it was never written. */
  rewrite(float: Float, change: Item): Promise<void>;
  collect(
    stage: Stage,
    float: Float,
    triggerId?: string,
    other?: Partial<FloatDependencies>,
  ): Promise<Verdict>;
  row(float: Float): Promise<Float>;
  log(float: Float): Promise<readonly LogEntry[]>;
  ledger(float: Float): Promise<LedgerEntry[]>;
}

/** `here` needs the tables of floats. */
export function floatDesk(here: World): FloatDesk {
  const { dependencies } = here;
  const { floats, collectionHistory } = dependencies;
  const { client, tables } = here.store;
  const desk: FloatDesk = {
    dependencies,
    floats,
    async float(settings = {}, fields = {}) {
      const userId = `member-${randomUUID()}` as UserId;
      await here.bank('PUT', `/sandbox/users/${userId}`, settings);
      const float = aFloat({ userId, ...fields });
      const acquired = await here.dependencies.locks.acquire(floatLockKey(userId));
      if ('busy' in acquired) throw new Error('nobody else knows this member');
      await floats.create(acquired.lock.fence, float);
      await acquired.lock.release();
      return float;
    },
    async standing(status, settings, fields) {
      const float = { ...(await desk.float(settings, fields)), status };
      await desk.rewrite(float, {});
      return float;
    },
    async rewrite(float, change) {
      const Item = { ...writeFloat(float, 'by the test'), ...change };
      await client.send(new PutItemCommand({ TableName: tables.floats, Item }));
    },
    async collect(stage, { userId, floatId }, triggerId = `trigger-${randomUUID()}`, other = {}) {
      const request = { stage, userId, floatId, triggerId };
      const result = await collectFloat({ ...dependencies, ...other }, request);
      if ('busy' in result) throw new Error('somebody else works on this member');
      return result.verdict;
    },
    async row({ floatId }) {
      const found = await floats.get(floatId);
      if (found === null) throw new Error(`no float ${floatId}`);
      return found;
    },
    log: ({ floatId }) => collectionHistory.getByFloatID(floatId),
    async ledger({ floatId }) {
      const page = await here.bank('GET', `/ledger?reference_id=${floatId}&limit=5000`);
      return (page as { entries: LedgerEntry[] }).entries;
    },
  };
  return desk;
}
