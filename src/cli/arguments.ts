import { InvalidArgumentError } from 'commander';
import { AS_OF_ALLOWED, parseAsOf } from '../app/as-of.ts';
import type { Instant } from '../domain/instant.ts';
import { parseInstant } from '../domain/instant.ts';
import type { CollectingProcess, RunProcess } from '../domain/runs.ts';
import { COLLECTING_PROCESSES, RUN_PROCESSES, isCollecting } from '../domain/runs.ts';
import type { FreezeTarget } from '../ports/freezes.ts';
import { parseFreezeTarget } from '../ports/freezes.ts';

/* What people type, checked. Each refusal says what is allowed; the parser names the argument. */

export function instant(text: string): Instant {
  const parsed = parseInstant(text);
  if (parsed === null) throw new InvalidArgumentError('a time looks like 2026-11-16T08:00:00Z');
  return parsed;
}

export function asOf(text: string): Instant {
  const parsed = parseAsOf(text);
  if (parsed === null) throw new InvalidArgumentError(AS_OF_ALLOWED);
  return parsed;
}

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 1_000_000) {
    throw new InvalidArgumentError('a whole number from 1 to 1000000');
  }
  return value;
}

export function prefix(text: string): string {
  if (!/^[a-z][a-z0-9-]{0,40}$/.test(text))
    throw new InvalidArgumentError('small letters, digits and dashes');
  return text;
}

export function runProcess(text: string): RunProcess {
  const found = RUN_PROCESSES.find((process) => process === text);
  if (found === undefined) throw new InvalidArgumentError(`one of ${RUN_PROCESSES.join(', ')}`);
  return found;
}

export function collectingProcess(text: string): CollectingProcess {
  const process = RUN_PROCESSES.find((known) => known === text);
  if (process !== undefined && isCollecting(process)) return process;
  const why =
    process === undefined ? '' : `a ${process} run charges nothing, so there is nothing to foretell: `;
  throw new InvalidArgumentError(`${why}one of ${COLLECTING_PROCESSES.join(', ')}`);
}

export function freezeTarget(text: string): FreezeTarget {
  const target = parseFreezeTarget(text);
  if (target === null) throw new InvalidArgumentError('global, pinless, ach, or user:ID of one member');
  return target;
}

export function nonEmpty(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('some text');
  return text.trim();
}
