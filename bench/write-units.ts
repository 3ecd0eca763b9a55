import type { TableNames } from '../src/adapters/dynamodb/tables.ts';
import { rounded } from './figures.ts';

/** What is written to a table, or to one of its indexes: DynamoDB limits each of them by itself. */
export interface WriteUnits {
  readonly table: string;
  readonly index?: string;
  readonly units: number;
}

/** One for each table and each index. */
export function byPlace(units: readonly WriteUnits[]): WriteUnits[] {
  const sums = new Map<string, WriteUnits>();
  for (const one of units) {
    const place = `${one.table} ${one.index ?? ''}`;
    sums.set(place, { ...one, units: one.units + (sums.get(place)?.units ?? 0) });
  }
  return [...sums.values()];
}

/** Each table with its indexes, by the name that it has in the code: those of the bench's own tables say nothing. */
export function ofOneCollection(
  units: readonly WriteUnits[],
  names: TableNames,
  collections: number,
): WriteUnits[] {
  return Object.entries(names).flatMap(([table, name]) =>
    units
      .filter((one) => one.table === name)
      .map((one) => ({ ...one, table, units: rounded(one.units / collections) })),
  );
}

export const sumOf = (units: readonly WriteUnits[]): number => units.reduce((sum, one) => sum + one.units, 0);
