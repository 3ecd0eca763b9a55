/*
 * The guard process: `node guard.js ORDERS`. It starts the servers and ends them when its parent asks or is gone, for
 * whatever reason: the kernel closes the channel between them even when the parent is killed.
 */
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { dataFolder, type ServerName } from './data-folder.ts';
import { dynamoDb } from './dynamodb.ts';
import { endProcesses } from './end-process.ts';
import type { Death, GuardMessage, GuardOrders, ParentMessage, Trouble } from './guard-messages.ts';
import { kinesis } from './kinesis.ts';
import { launch, type RunningServer, type Spawned } from './launch.ts';
import { logTail } from './log-tail.ts';
import { takeOwnership, type Owner } from './ownership.ts';
import { isAlive, recordProcess, signal, type ProcessRecord } from './process-record.ts';
import { redis } from './redis.ts';
import type { Server } from './server.ts';
import { readStackFile, removeStackFile, writeStackFile, type Endpoints } from './stack-file.ts';
import { until } from './until.ts';

const orders = JSON.parse(process.argv[2] ?? '') as GuardOrders;
const folder = dataFolder(orders.dataDir);
const me: Owner = { guard: recordOrFail('guard', process.pid), parent: recordOrFail('parent', process.ppid) };
const servers = new Map<ServerName, Spawned>();
/** Those that serve, and how to start each again. */
const serving = new Map<ServerName, { readonly server: Server; readonly running: RunningServer }>();
/** Those whose death was asked for. */
const crashing = new Set<ServerName>();
let stopping = false;

// Ctrl-C and a closing terminal are the parent's to answer; when it is done, its channel closes.
process.on('SIGINT', () => undefined);
process.on('SIGHUP', () => undefined);
process.on('SIGTERM', () => void stop());
process.on('message', (message) => void hear(message as ParentMessage));
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
  const found = await startServers();
  writeStackFile(folder, { ...me, servers: records(), endpoints: found });
  await tell({ type: 'ready', endpoints: found });
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
  await Promise.all([
    start(redis({ program: programs.redisServer, store: folder.storeOf('redis') })),
    start(dynamoDb({ java: programs.java, store: folder.storeOf('dynamodb'), inMemory })),
    start(kinesis({ store: folder.storeOf('kinesis'), inMemory })),
  ]);
  return endpoints();
}

function endpoints(): Endpoints {
  const address = (name: ServerName): string => `127.0.0.1:${servingOrFail(name).running.port}`;
  return {
    redisUrl: `redis://${address('redis')}`,
    dynamodbUrl: `http://${address('dynamodb')}`,
    kinesisUrl: `http://${address('kinesis')}`,
  };
}

async function start(server: Server, formerPort?: number): Promise<void> {
  const running = await launch(server, folder, (spawned) => remember(server.name, spawned), formerPort);
  serving.set(server.name, { server, running });
  void running.ended.then((cause) => reportDeath(server.name, cause));
}

async function hear(message: ParentMessage): Promise<void> {
  if (message.type === 'stop') return stop();
  try {
    await (message.type === 'crash' ? crash(message) : sleep(message));
    await tell({ type: 'serves-again', server: message.server });
  } catch (error) {
    reportDeath(message.server, error instanceof Error ? error.message : String(error));
  }
}

/** Killed, away for a while, and back at the same port with the same data. */
async function crash({ server: name, downMs }: Extract<Trouble, { type: 'crash' }>): Promise<void> {
  const { server, running } = servingOrFail(name);
  crashing.add(name);
  try {
    signal(running.record, 'SIGKILL');
    await running.ended;
    await pause(downMs);
  } finally {
    crashing.delete(name);
  }
  if (stopping) return;
  await start(server, running.port);
  writeStackFile(folder, { ...me, servers: records(), endpoints: endpoints() });
}

async function sleep({ server: name, forMs }: Extract<Trouble, { type: 'pause' }>): Promise<void> {
  const { record } = servingOrFail(name).running;
  signal(record, 'SIGSTOP');
  await pause(forMs);
  signal(record, 'SIGCONT');
}

function servingOrFail(name: ServerName): { readonly server: Server; readonly running: RunningServer } {
  const found = serving.get(name);
  if (found === undefined) throw new Error(`${name} does not serve`);
  return found;
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
  if (stopping || crashing.has(program)) return;
  const death: Death = { program, cause, lastLogLines: logTail(folder.logOf(program)) };
  void tell({ type: 'died', death });
}

async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  // One that is paused would not hear that it should end.
  for (const record of records()) signal(record, 'SIGCONT');
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
