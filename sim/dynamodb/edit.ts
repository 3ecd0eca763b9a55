import type { RawItem, Value } from './attribute-value.ts';
import { attributeOf } from './attribute-value.ts';
import { invalid } from './errors.ts';
import type { Path } from './expression.ts';

/** What shall stand at a path; null: nothing. */
export interface Edit {
  readonly path: Path;
  readonly value: Value | null;
}

/** The item with its edits. What no edit touches is shared with the item before. */
export const edited = (item: RawItem, edits: readonly Edit[]): RawItem => editedMap(item, edits, 0);

function editedMap(map: RawItem, edits: readonly Edit[], depth: number): RawItem {
  const copy: Record<string, Value> = { ...map };
  for (const [step, ofStep] of byStep(edits, depth)) {
    if (typeof step === 'number') throw invalidPath();
    const value = newValue(attributeOf(map, step), ofStep, depth);
    if (value === null) delete copy[step];
    else copy[step] = value;
  }
  return Object.freeze(copy);
}

/** Indexes are those of the list before, also when something before them is taken away. */
function editedList(list: readonly Value[], edits: readonly Edit[], depth: number): readonly Value[] {
  const copy: (Value | null)[] = [...list];
  const steps = [...byStep(edits, depth)].sort(([a], [b]) => Number(a) - Number(b));
  for (const [step, ofStep] of steps) {
    if (typeof step === 'string') throw invalidPath();
    const value = newValue(list[step], ofStep, depth);
    if (step < list.length) copy[step] = value;
    else if (value !== null) copy.push(value);
  }
  return Object.freeze(copy.filter((value) => value !== null));
}

function newValue(before: Value | undefined, edits: readonly Edit[], depth: number): Value | null {
  const [first] = edits as readonly [Edit];
  if (first.path.length === depth + 1) return first.value;
  if (before?.M !== undefined) return Object.freeze({ M: editedMap(before.M, edits, depth + 1) });
  if (before?.L !== undefined) return Object.freeze({ L: editedList(before.L, edits, depth + 1) as Value[] });
  throw invalidPath();
}

const invalidPath = (): Error =>
  invalid('The document path provided in the update expression is invalid for update');

function byStep(edits: readonly Edit[], depth: number): Map<string | number, Edit[]> {
  const groups = new Map<string | number, Edit[]>();
  for (const edit of edits) {
    const step = edit.path[depth] as string | number;
    const group = groups.get(step);
    if (group === undefined) groups.set(step, [edit]);
    else group.push(edit);
  }
  return groups;
}
