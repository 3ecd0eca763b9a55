import type { RawItem, Value } from './attribute-value.ts';
import { attributeOf } from './attribute-value.ts';
import type { Bindings } from './bindings.ts';
import { boundPath } from './bindings.ts';
import { checkPaths } from './document-paths.ts';
import type { Path } from './expression.ts';
import { parserOf } from './parser.ts';

export const parseProjection = parserOf((parser): readonly Path[] => parser.list(() => parser.path()));

export function boundPaths(paths: readonly Path[], bindings: Bindings): readonly Path[] {
  const bound = paths.map((path) => boundPath(bindings, path));
  checkPaths(bound);
  return bound;
}

/** What stands at the paths, within the maps and lists that lead there. */
export const projected = (item: RawItem, paths: readonly Path[]): RawItem => partOfMap(item, paths, 0);

function partOfMap(map: RawItem, paths: readonly Path[], depth: number): Record<string, Value> {
  const part: Record<string, Value> = {};
  for (const step of new Set(paths.map((path) => path[depth]))) {
    if (typeof step !== 'string') continue;
    const value = partOf(attributeOf(map, step), through(paths, depth, step), depth + 1);
    if (value !== undefined) part[step] = value;
  }
  return part;
}

function partOfList(list: readonly Value[], paths: readonly Path[], depth: number): Value[] {
  const steps = [...new Set(paths.map((path) => path[depth]))].filter((step) => typeof step === 'number');
  return steps
    .sort((a, b) => a - b)
    .map((step) => partOf(list[step], through(paths, depth, step), depth + 1))
    .filter((value) => value !== undefined);
}

function partOf(value: Value | undefined, paths: readonly Path[], depth: number): Value | undefined {
  if (value === undefined || paths.some((path) => path.length === depth)) return value;
  if (value.M !== undefined) {
    const M = partOfMap(value.M, paths, depth);
    return Object.keys(M).length === 0 ? undefined : { M };
  }
  if (value.L === undefined) return undefined;
  const L = partOfList(value.L, paths, depth);
  return L.length === 0 ? undefined : { L };
}

const through = (paths: readonly Path[], depth: number, step: string | number): readonly Path[] =>
  paths.filter((path) => path[depth] === step);
