import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { terminal } from '../../src/cli/terminal.ts';
import { PAGES, pageOf } from './pages.ts';

/** Writes the generated blocks of the documentation anew. */
const root = process.cwd();
const out = terminal();
for (const page of PAGES) {
  const path = join(root, page);
  const text = await pageOf(root, page);
  const isNew = text !== readFileSync(path, 'utf8');
  if (isNew) writeFileSync(path, text);
  out.line(`${page}: ${isNew ? 'written' : 'as it was'}`);
}
