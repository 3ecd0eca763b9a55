import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { dataFolder, type DataFolder } from './data-folder.ts';
import { isAlive, processRecord } from './process-record.ts';

const endpoints = z.object({ redisUrl: z.string(), dynamodbUrl: z.string(), kinesisUrl: z.string() });

const stackRecord = z.object({
  guard: processRecord,
  parent: processRecord,
  servers: z.array(processRecord),
  endpoints: endpoints.nullable(),
});

export type Endpoints = Readonly<z.infer<typeof endpoints>>;
export type StackRecord = Readonly<z.infer<typeof stackRecord>>;

/** The endpoints of the system that is up on this folder, for a command in another terminal; null when none is. */
export function readRunningStack(dataDir: string): Endpoints | null {
  const record = readStackFile(dataFolder(resolve(dataDir)));
  return record !== null && isAlive(record.guard) ? record.endpoints : null;
}

/** Null when there is none, and when it is not ours to understand: then it proves nothing about any process. */
export function readStackFile(folder: DataFolder): StackRecord | null {
  try {
    return stackRecord.parse(JSON.parse(readFileSync(folder.stackFile, 'utf8')));
  } catch {
    return null;
  }
}

/** Only the owner of the folder writes. Renamed into place, so that a reader never sees half of it. */
export function writeStackFile(folder: DataFolder, record: StackRecord): void {
  const draft = `${folder.stackFile}.draft`;
  writeFileSync(draft, `${JSON.stringify(record, null, 2)}\n`);
  renameSync(draft, folder.stackFile);
}

export function removeStackFile(folder: DataFolder): void {
  rmSync(folder.stackFile, { force: true });
}
