import { register } from 'node:module';
import type { PlantedFile } from './hooks.ts';
import { MUTANTS } from './list.ts';

/* Imported before everything else (`node --import`): plants the fault that the environment names. */

const mutant = MUTANTS.find(({ name }) => name === process.env['MUTANT']);
if (mutant === undefined) throw new Error(`there is no mutant ${process.env['MUTANT']}`);
const data: PlantedFile = {
  mutant,
  source: new URL(`../../../${mutant.file}`, import.meta.url).href,
  compiled: new URL(`../../${mutant.file.replace(/\.ts$/, '.js')}`, import.meta.url).href,
};
register('./hooks.js', { parentURL: import.meta.url, data });
