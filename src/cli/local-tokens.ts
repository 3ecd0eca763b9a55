import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROLES } from '../ports/caller.ts';

/** Tokens for the local API, one for each role: made once and kept with the data, so that a restart changes nothing. */
export function localTokens(folder: string): string {
  const file = join(folder, 'api-tokens');
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    const tokens = ROLES.map((role) => `${role}:${role}:${randomBytes(18).toString('base64url')}`).join(',');
    writeFileSync(file, `${tokens}\n`, { mode: 0o600 });
    return tokens;
  }
}
