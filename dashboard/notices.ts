import type { Request } from 'express';
import { notice } from './frame.ts';
import type { Html } from './html.ts';

/** What is said after something was done. The address names one of these; it cannot say anything else. */
const NOTICES = {
  frozen: ['good', 'Frozen. It holds for every decision made from now on.'],
  lifted: ['good', 'Lifted. What it deferred is collected by the next runs.'],
  'not-frozen': ['warn', 'It was not frozen any more.'],
  replayed: ['good', 'The event is back in the inbox, and the workers have it.'],
  'replayed-late': [
    'warn',
    'The event is back in the inbox. Redis does not answer: the workers get it when it is back.',
  ],
  dropped: ['good', 'The event was dropped. It is never applied, also when it is delivered again.'],
  'event-replayed': ['good', 'The event is applied again. Look at it in a moment.'],
  'event-replayed-late': [
    'warn',
    'The event waits to be applied again. Redis does not answer: the workers get it when it is back.',
  ],
  waived: ['good', 'The period was waived.'],
  'recurring-cancelled': ['good', 'The recurring payment has ended. Nothing is charged any more.'],
  forecast: ['good', 'The forecast was asked for. It is shown below when it is made.'],
} as const satisfies Record<string, readonly ['good' | 'warn', string]>;

export type NoticeName = keyof typeof NOTICES;

export function noticeOf(request: Request): Html | null {
  const name = Object.keys(NOTICES).find((known) => known === request.query['done']) as
    NoticeName | undefined;
  if (name === undefined) return null;
  const [kind, text] = NOTICES[name];
  return notice(kind, text);
}
