import { describe, expect, it } from 'vitest';
import { readMembershipEvent } from '../../../src/app/membership-payload.ts';
import type { UserId } from '../../../src/domain/subscription.ts';
import { MalformedEventError } from '../../../src/errors.ts';
import type { InboxEvent } from '../../../src/ports/inbox.ts';
import { at } from '../../support/records.ts';

const event = (data: Record<string, unknown>): InboxEvent => ({
  stream: 'users',
  shardId: 'shardId-000000000000',
  sequence: '1',
  userId: 'user-1' as UserId,
  identity: 'event-1',
  type: 'RETRACT',
  data: { user_id: 'user-1', ...data },
  receivedAt: at('2026-11-16T08:00:00Z'),
});
const read = (data: Record<string, unknown>) => readMembershipEvent(event(data), 'RETRACT');

describe('what a membership event carries', () => {
  it('is read in full', () => {
    expect(
      read({
        tier: 'Plus',
        term: 'YEARLY',
        confirmation_id: 'c-1',
        subscription_id: 's-1',
        start_date: '2026-11-16T06:00:00Z',
        status: 'ACTIVE',
        pause_duration_months: 2,
      }),
    ).toEqual({
      type: 'RETRACT',
      userId: 'user-1',
      tier: 'Plus',
      term: 'YEARLY',
      confirmationId: 'c-1',
      subscriptionId: 's-1',
      startDate: '2026-11-16T06:00:00Z',
      status: 'ACTIVE',
      pauseDurationMonths: 2,
    });
  });

  const unset = {
    tier: null,
    term: null,
    confirmationId: null,
    subscriptionId: null,
    startDate: null,
    status: null,
    pauseDurationMonths: null,
  };

  it.each([
    ['not there', {}],
    ['null', { tier: null, term: null, start_date: null, pause_duration_months: null }],
    ['empty', { tier: '', term: '', confirmation_id: '', subscription_id: '', start_date: '', status: '' }],
  ])('may be %s', (_, data) => {
    expect(read(data)).toEqual({ type: 'RETRACT', userId: 'user-1', ...unset });
  });

  it('may hold more than we know', () => {
    expect(read({ campaign: { id: 7 } })).toEqual({ type: 'RETRACT', userId: 'user-1', ...unset });
  });

  it.each([
    ['user_id', undefined],
    ['user_id', ''],
    ['user_id', 7],
    ['user_id', 'user-2'],
    ['term', 'WEEKLY'],
    ['term', 12],
    ['tier', {}],
    ['pause_duration_months', '2'],
    ['pause_duration_months', 1.5],
  ])('is refused with %s = %j, without telling what came', (field, value) => {
    let refusal: unknown = null;
    try {
      read({ [field]: value });
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(MalformedEventError);
    expect((refusal as Error).message).toMatch(field === 'user_id' && value === 'user-2' ? /user/ : field);
    expect((refusal as Error).message).not.toContain('WEEKLY');
  });
});
