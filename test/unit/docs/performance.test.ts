import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Measured } from '../../../bench/figures.ts';
import type { WriteUnits } from '../../../bench/write-units.ts';
import { sumOf } from '../../../bench/write-units.ts';

const figures = JSON.parse(
  readFileSync(new URL('../../../docs/measured/figures.json', import.meta.url), 'utf8'),
) as Required<Measured> & { readonly write_units: readonly WriteUnits[] };

it('what is written to each table and each index comes to what is written in all', () => {
  const { write_units: units } = figures;
  const inTables = units.filter(({ index }) => index === undefined);
  const inIndexes = units.filter(({ index }) => index !== undefined);
  // Each is rounded by itself.
  expect(sumOf(inTables)).toBeCloseTo(figures.table_write_units_per_collection, 0);
  expect(sumOf(inIndexes)).toBeCloseTo(figures.index_write_units_per_collection, 0);
});
