import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** What V8 writes with `--cpu-prof`: a tree of calls, and in which of them it was found at each look. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  /** Microseconds since the look before. */
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

/** Where a process has spent its time. */
export interface RoomShares {
  /** Of the whole time. */
  readonly idle_percent: number;
  /** Of the time in which it was not idle, the greatest first. */
  readonly busy_percent: Readonly<Record<string, number>>;
}

const IDLE = 'idle';

/** The first that fits a frame's file says where it belongs. */
const ROOMS: readonly (readonly [pattern: RegExp, room: string])[] = [
  [/signature-v4|aws-crypto|httpAuthSchemes/, 'AWS SDK: signing'],
  [/node_modules\/(@aws-sdk|@smithy)\//, 'AWS SDK: the rest'],
  [
    /node_modules\/(bullmq|ioredis|redis-parser|@ioredis|msgpackr|cluster-key-slot|standard-as-callback)\//,
    'BullMQ and ioredis',
  ],
  [/node_modules\/zod\//, 'zod'],
  [/node_modules\//, 'other packages'],
  [/^node:internal\/deps\/undici/, 'Node: fetch'],
  [/^node:internal\/(modules|process\/esm|vm)|^node:vm$|cjs\/loader/, 'Node: loading modules'],
  [
    /^node:(_http|http|net|tls|_tls|stream|buffer|internal\/(stream|http|net|js_stream|buffer))/,
    'Node: HTTP, sockets, streams',
  ],
  [/^node:internal\/crypto|^node:crypto/, 'Node: hashing'],
  [/^node:/, 'Node: promises, timers, events'],
  [/\/src\/adapters\/dynamodb\//, 'src/adapters/dynamodb'],
  [/\/src\/adapters\/lock\//, 'src/adapters/lock'],
  [/\/src\/([a-z-]+)\//, 'src/$1'],
  [/\/(queues|workers|dashboard|bench)\//, '$1'],
];

/** By their names: V8 has no file for these. */
const OF_V8: ReadonlyMap<string, string> = new Map([
  ['(idle)', IDLE],
  ['(garbage collector)', 'garbage collection'],
  ['(program)', 'Node: outside JavaScript'],
  ['(root)', 'Node: outside JavaScript'],
]);

/** Sums the time of each room over one or more profiles of the same kind of process. */
export function sharesOf(profiles: readonly CpuProfile[]): RoomShares {
  const times = new Map<string, number>();
  for (const profile of profiles) addTimes(times, profile);
  const allUs = sum(times.values());
  const idleUs = times.get(IDLE) ?? 0;
  const busy = [...times].filter(([room]) => room !== IDLE).sort(([, a], [, b]) => b - a);
  const percent = (us: number, ofUs: number): number => Math.round((us * 1_000) / ofUs) / 10;
  return {
    idle_percent: percent(idleUs, allUs),
    busy_percent: Object.fromEntries(busy.map(([room, us]) => [room, percent(us, allUs - idleUs)])),
  };
}

function addTimes(times: Map<string, number>, { nodes, samples, timeDeltas }: CpuProfile): void {
  const rooms = roomsOf(nodes);
  for (const [look, id] of samples.entries()) {
    const room = rooms.get(id) ?? 'unknown';
    // A negative one is V8's clock going back; it cannot be time that was spent.
    times.set(room, (times.get(room) ?? 0) + Math.max(0, timeDeltas[look] ?? 0));
  }
}

/** What has no file of its own, a built-in function, counts for its caller. */
function roomsOf(nodes: readonly ProfileNode[]): Map<number, string> {
  const rooms = new Map<number, string>();
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  // A profile lists callers before the functions that they call.
  for (const { id, callFrame } of nodes) {
    const caller = rooms.get(parents.get(id) ?? -1);
    rooms.set(id, roomOf(callFrame) ?? caller ?? 'Node: outside JavaScript');
  }
  return rooms;
}

function roomOf({ functionName, url }: ProfileNode['callFrame']): string | null {
  const ofV8 = OF_V8.get(functionName);
  if (ofV8 !== undefined) return ofV8;
  for (const [pattern, room] of ROOMS) {
    const found = pattern.exec(url);
    if (found !== null) return room.replace('$1', found[1] ?? '');
  }
  return null;
}

const sum = (values: Iterable<number>): number => [...values].reduce((all, one) => all + one, 0);

/** Of every kind of process whose profiles are in a folder; files are named PART.PROCESS.NUMBER.cpuprofile. */
export function sharesIn(dir: string): Record<string, RoomShares> {
  const kinds = new Map<string, CpuProfile[]>();
  for (const file of readdirSync(dir).sort()) {
    const [, kind] = /^([a-z]+\.[a-z-]+)\.\d+\.cpuprofile$/.exec(file) ?? [];
    if (kind === undefined) continue;
    const profile = JSON.parse(readFileSync(join(dir, file), 'utf8')) as CpuProfile;
    kinds.set(kind, [...(kinds.get(kind) ?? []), profile]);
  }
  return Object.fromEntries([...kinds].map(([kind, profiles]) => [kind, sharesOf(profiles)]));
}
