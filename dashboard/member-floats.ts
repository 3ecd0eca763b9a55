import type { Request } from 'express';
import type { FloatExplanation } from '../src/app/floats/explain-float.ts';
import { explainFloat } from '../src/app/floats/explain-float.ts';
import type { CalendarDate } from '../src/domain/calendar-date.ts';
import { dateOf } from '../src/domain/calendar-date.ts';
import type { FloatId } from '../src/domain/floats/float.ts';
import { isOpenFloat } from '../src/domain/floats/float.ts';
import { floatIdOf } from '../src/domain/floats/record-id.ts';
import type { UserId } from '../src/domain/subscription.ts';
import type { FloatPage } from '../src/ports/floats.ts';
import type { ConsoleContext } from './console-context.ts';
import { queryText } from './console-context.ts';
import type { Answer } from './patience.ts';

/** A member's cash advances, and the story of one of them. */
export interface MemberFloats {
  readonly floats: Answer<FloatPage>;
  /** Null: none is looked at. */
  readonly explanation: FloatExplanation | null;
  readonly today: CalendarDate;
}

/** `asked`: the float that is looked at. Null: the open one, unless a record is looked at. */
export async function readMemberFloats(
  { stores, clock, patience }: Pick<ConsoleContext, 'stores' | 'clock' | 'patience'>,
  userId: UserId,
  asked: FloatId | null,
  looksAtRecord: boolean,
): Promise<MemberFloats> {
  const floats = await patience.ask(() => stores.floats.listByUserID(userId));
  const open = floats?.value.floats.find(({ status }) => isOpenFloat(status))?.floatId ?? null;
  const looked = asked ?? (looksAtRecord ? null : open);
  const story =
    looked === null
      ? null
      : await patience.ask(() => explainFloat({ ...stores, clock }, { userId, floatId: looked }));
  return { floats, explanation: story?.value ?? null, today: dateOf(clock.now()) };
}

export const hasFloats = ({ floats }: MemberFloats): boolean =>
  floats !== null && floats.value.floats.length + floats.value.malformed.length > 0;

/** Runs name a float as they name a record. */
export function lookedAt(request: Request): {
  readonly record: string | null;
  readonly float: FloatId | null;
} {
  const record = queryText(request, 'record');
  const float = queryText(request, 'float') as FloatId | null;
  const named = record === null ? null : floatIdOf(record);
  return named === null ? { record, float } : { record: null, float: named };
}
