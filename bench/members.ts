import { randomUUID } from 'node:crypto';
import { personaOf } from '../src/demo/personas.ts';
import type { DemoMember } from '../src/demo/population.ts';
import { demoMember } from '../src/demo/population.ts';
import type { SubscriptionId, UserId } from '../src/domain/subscription.ts';
import { NOW } from './ground.ts';

/*
 * All alike, so that the pipeline and the floor do the same for each: a paid month behind them, a month that is due, a
 * card with money on it.
 */

export const dueMembers = (count: number): DemoMember[] => copies(count, modelOf('pays by card'));

/** A paid month behind them, the next in four days: in the same status as those that are due. */
export const membersNotDue = (count: number): DemoMember[] => copies(count, modelOf('is due in four days'));

export const RECORDS_EACH = 2;

/** The first plain one of the demo's: monthly, on no fixed weekday. */
function modelOf(persona: string): DemoMember {
  for (let index = 1; index < 10_000; index += 1) {
    const isPlain = index % 5 !== 0 && index % 7 !== 2 && index % 11 !== 3;
    if (isPlain && personaOf(index).name === persona) return demoMember('model', index, NOW);
  }
  throw new Error(`the demo has nobody who ${persona}`);
}

function copies(count: number, model: DemoMember): DemoMember[] {
  return Array.from({ length: count }, () => {
    const userId = randomUUID() as UserId;
    return {
      bankUser: { ...model.bankUser, user_id: userId, email: `${userId}@example.com` },
      records: model.records.map((record) => ({
        ...record,
        userId,
        subscriptionId: randomUUID() as SubscriptionId,
      })),
      floats: [],
      recurring: [],
    };
  });
}

/** The record of a member that is due. */
export function dueRecordOf({ records }: DemoMember): DemoMember['records'][number] {
  const due = records.find(({ billingStatus }) => billingStatus === 'SCHEDULED');
  if (due === undefined) throw new Error('a member of the bench has a record that is due');
  return due;
}
