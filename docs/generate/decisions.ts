import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Every decision record by its number and title. */
export function decisionList(folder: string): string {
  const records = readdirSync(folder)
    .filter((file) => /^\d{4}-/.test(file))
    .sort();
  return records
    .map((file) => {
      const [, number = '', title = ''] =
        /^# (\d+)\. (.+)$/m.exec(readFileSync(join(folder, file), 'utf8')) ?? [];
      return `${number}. [${title}](${file})`;
    })
    .join('\n');
}
