/*
 * The guard process: `node guard.js ORDERS`. It starts the servers and ends them when its parent asks or is gone, for
 * whatever reason: the kernel closes the channel between them even when the parent is killed.
 */
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dataFolder, type ServerName } from './data-folder.ts';
import { dynamoDb } from './dynamodb.ts';
import { endProcesses } from './end-process.ts';
import type { Death, GuardMessage, GuardOrders } from './guard-messages.ts';
import { kinesis } from './kinesis.ts';
import { launch, type Spawned } from './launch.ts';
import { logTail } from './log-tail.ts';
import { takeOwnership, type Owner } from './ownership.ts';
import { isAlive, recordProcess, type ProcessRecord } from './process-record.ts';
import { redis } from './redis.ts';
import type { Server } from './server.ts';
import { readStackFile, removeStackFile, writeStackFile, type Endpoints } from './stack-file.ts';
import { until } from './until.ts';

const orders = JSON.parse(process.argv[2] ?? '') as GuardOrders;
const folder = dataFolder(orders.dataDir);
const me: Owner = { guard: recordOrFail('guard', process.pid), parent: recordOrFail('parent', process.ppid) };
const servers = new Map<ServerName, Spawned>();
let stopping = false;

// Ctrl-C and a closing terminal are the parent's to answer; when it is done, its channel closes.
process.on('SIGINT', () => undefined);
process.on('SIGHUP', () => undefined);
process.on('SIGTERM', () => void stop());
process.on('message', () => void stop()); // there is only one thing to be asked
process.on('disconnect', () => void stop());
if (!process.connected) await stop();

try {
  await main();
} catch (error) {
  await tell({ type: 'failed', reason: error instanceof Error ? error.message : String(error) });
  await stop();
}

async function main(): Promise<void> {
  const holder = await takeFolder();
  if (holder !== null) {
    await tell({ type: 'taken', by: holder });
    process.exit(0);
  }
  await endProcesses(readStackFile(folder)?.servers ?? []);
  emptyLogs();
  const endpoints = await startServers();
  writeStackFile(folder, { ...me, servers: records(), endpoints });
  await tell({ type: 'ready', endpoints });
}

/** Null when the folder is ours. A guard whose parent is gone is on its way out: that is worth a wait. */
async function takeFolder(): Promise<Owner | null> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const holder = takeOwnership(folder.owners, me);
    if (holder === 'taken') return null;
    if (isAlive(holder.parent) || performance.now() > deadline) return holder;
    await until(() => !isAlive(holder.guard), { timeoutMs: 1_000 });
  }
}

async function startServers(): Promise<Endpoints> {
  const { inMemory, programs } = orders;
  const [redisPort, dynamodbPort, kinesisPort] = await Promise.all([
    start(redis({ program: programs.redisServer, store: folder.storeOf('redis') })),
    start(dynamoDb({ java: programs.java, store: folder.storeOf('dynamodb'), inMemory })),
    start(kinesis({ store: folder.storeOf('kinesis'), inMemory })),
  ]);
  return {
    redisUrl: `redis://127.0.0.1:${redisPort}`,
    dynamodbUrl: `http://127.0.0.1:${dynamodbPort}`,
    kinesisUrl: `http://127.0.0.1:${kinesisPort}`,
  };
}

async function start(server: Server): Promise<number> {
  const running = await launch(server, folder, (spawned) => remember(server.name, spawned));
  void running.ended.then((cause) => reportDeath(server.name, cause));
  return running.port;
}

/** On disk for the next start, and to the parent in case it outlives this guard. */
function remember(server: ServerName, spawned: Spawned): void {
  if (stopping) throw new Error('asked to stop while starting');
  servers.set(server, spawned);
  writeStackFile(folder, { ...me, servers: records(), endpoints: null });
  void tell({ type: 'spawned', server: spawned.record });
}

function records(): ProcessRecord[] {
  return [...servers.values()].map(({ record }) => record);
}

function reportDeath(program: ServerName, cause: string): void {
  if (stopping) return;
  const death: Death = { program, cause, lastLogLines: logTail(folder.logOf(program)) };
  void tell({ type: 'died', death });
}

async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  await endProcesses(records());
  // Until they are collected they would stay as zombies, for a first process that may never look.
  await Promise.all([...servers.values()].map(({ ended }) => ended));
  // Before the first server of ours the file is still the one of those who were here before, and names what they left.
  if (servers.size > 0) removeStackFile(folder);
  if (servers.size > 0 && orders.removeDataDir) rmSync(folder.path, { recursive: true, force: true });
  process.exit(0);
}

/** Settles when the message is out, and also when nobody is left to hear it. */
function tell(message: GuardMessage): Promise<void> {
  return new Promise((resolve) => {
    if (!process.connected || process.send === undefined) return resolve();
    process.send(message, undefined, undefined, () => resolve());
  });
}

function emptyLogs(): void {
  mkdirSync(folder.logs, { recursive: true });
  truncateSync(folder.logOf('guard'));
  for (const name of ['redis', 'dynamodb', 'kinesis'] as const) writeFileSync(folder.logOf(name), '');
}

function recordOrFail(name: string, pid: number): ProcessRecord {
  const record = recordProcess(name, pid);
  if (record === null) throw new Error(`the ${name} is gone`);
  return record;
}
