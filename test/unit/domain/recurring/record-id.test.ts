import { expect, it } from 'vitest';
import { recurringOf, recurringRecordId } from '../../../../src/domain/recurring/record-id.ts';
import type { AccountId, RecurringId } from '../../../../src/domain/recurring/recurring.ts';

it.each([
  ['acc-1', '9f3c2a10'],
  ['acc.with.points', 'sub-1'],
  ['123', '123'],
])('a record’s id names account %s and subscription %s', (account, subscription) => {
  const ids = { accountId: account as AccountId, recurringId: subscription as RecurringId };
  expect(recurringOf(recurringRecordId(ids))).toEqual(ids);
});

it.each(['float.f-1', 'sub-1', 'recurring.', 'recurring.acc', 'recurring.acc.'])('%s names none', (id) => {
  expect(recurringOf(id)).toBeNull();
});
