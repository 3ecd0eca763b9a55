import { register } from 'node:module';
import { MUTANTS } from './list.ts';

/* Imported before everything else (`node --import`): plants the fault that the environment names. */

const mutant = MUTANTS.find(({ name }) => name === process.env['MUTANT']);
if (mutant === undefined) throw new Error(`there is no mutant ${process.env['MUTANT']}`);
const url = new URL(`../../${mutant.file.replace(/\.ts$/, '.js')}`, import.meta.url).href;
register('./hooks.js', { parentURL: import.meta.url, data: { mutant, url } });
