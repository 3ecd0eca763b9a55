import { createHash, timingSafeEqual } from 'node:crypto';
import type { ApiToken, Caller, Role } from '../ports/caller.ts';
import { ROLES } from '../ports/caller.ts';

export const mayActAs = ({ role }: Caller, wanted: Role): boolean =>
  ROLES.indexOf(role) >= ROLES.indexOf(wanted);

/**
 * Finds the caller by the `Authorization` header. Compares digests of equal length, and all of them, so that the time it
 * takes tells nothing about how much of a guess was right.
 */
export function callerOf(tokens: readonly ApiToken[]): (authorization: string | undefined) => Caller | null {
  const known = tokens.map(({ name, role, token }) => ({ caller: { name, role }, digest: digest(token) }));
  return (authorization) => {
    const [, presented = ''] = /^Bearer +(\S+) *$/i.exec(authorization ?? '') ?? [];
    const guess = digest(presented);
    return known.reduce<Caller | null>(
      (found, entry) => (timingSafeEqual(entry.digest, guess) ? entry.caller : found),
      null,
    );
  };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
