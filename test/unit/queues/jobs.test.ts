import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collectionJobId, pageJobId, requestJobId } from '../../../queues/jobs.ts';
import { backoffMs } from '../../../queues/options.ts';
import type { RunId } from '../../../src/domain/runs.ts';
import type { SubscriptionId } from '../../../src/domain/subscription.ts';

const runId = 'scheduled-20261116T080000Z' as RunId;
const idOf = (subscriptionId: string, pass = 1): string =>
  collectionJobId({ runId, pass, subscriptionId: subscriptionId as SubscriptionId });

describe('the id of a job', () => {
  it('says what it is for', () => {
    expect(pageJobId({ runId, pass: 2, page: 7 })).toBe('scheduled-20261116T080000Z.2.7');
    expect(idOf('s-1')).toBe('scheduled-20261116T080000Z.1.s-1');
    expect(requestJobId('request-1', 3)).toBe('request-1.3');
  });

  it('has no colon and is no number, whatever the ids are, and differs where they differ', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (one, other) => {
        expect(idOf(one)).not.toContain(':');
        expect(requestJobId(one, 1)).not.toContain(':');
        expect(requestJobId(one, 1)).not.toMatch(/^\d+$/);
        expect(idOf(one) === idOf(other)).toBe(one === other);
        expect(idOf(one, 1)).not.toBe(idOf(one, 2));
      }),
    );
  });
});

it('tries come less and less often, and at least once a minute', () => {
  expect([1, 2, 3, 4, 7, 8, 500].map(backoffMs)).toEqual([
    1_000, 2_000, 4_000, 8_000, 60_000, 60_000, 60_000,
  ]);
});
