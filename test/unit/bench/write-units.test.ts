import { expect, it } from 'vitest';
import { ofOneCollection, sumOf } from '../../../bench/write-units.ts';
import { tableNames } from '../../../src/cli/make-tables.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import * as sections from '../../../src/config/sections.ts';

it('tables have the names that they have in the code, each before its indexes, and nothing is lost', () => {
  const names = tableNames(readConfig({}, { dynamodb: sections.dynamodb }).dynamodb);
  const units = [
    { table: names.locks, units: 12 },
    { table: names.billing, units: 10 },
    { table: names.billing, index: 'by-status', units: 5 },
  ];
  const ofOne = ofOneCollection(units, names, 2);
  expect(ofOne).toEqual([
    { table: 'billing', units: 5 },
    { table: 'billing', index: 'by-status', units: 2.5 },
    { table: 'locks', units: 6 },
  ]);
  expect(sumOf(ofOne)).toBe(sumOf(units) / 2);
});
