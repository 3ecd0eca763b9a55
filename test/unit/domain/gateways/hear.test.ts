import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TellingEvent } from '../../../../src/domain/gateways/hear.ts';
import { hear, lapse } from '../../../../src/domain/gateways/hear.ts';
import { GATEWAY_STATUSES } from '../../../../src/domain/gateways/status.ts';
import { idOfRef } from '../../../../src/domain/gateways/subscription.ts';
import type { PaymentWord, StateWord } from '../../../../src/domain/gateways/transitions.ts';
import { PAYMENT_WORDS, STATE_WORDS } from '../../../../src/domain/gateways/transitions.ts';
import { formatInstant, instantFromMs } from '../../../../src/domain/instant.ts';
import { at } from '../../../support/records.ts';
import { MINE, NOW, OTHER, after, fresh, payment, said } from './situations.ts';

const [T1, T2, T3, T4] = [1, 2, 3, 4].map((hour) => `2026-11-01T0${hour}:00:00Z`) as [
  string,
  string,
  string,
  string,
];
const heard = (events: readonly TellingEvent[], event: TellingEvent) =>
  hear(after(events), event, { holder: null, now: NOW });

describe('the order of words', () => {
  it('is that of the gateway’s clock: what is older than the last one changes nothing', () => {
    expect(heard([said('paid', T2)], said('unpaid', T1))).toEqual({ result: 'stale' });
    expect(heard([said('paid', T1)], said('unpaid', T2))).toMatchObject({
      result: 'heard',
      subscription: { status: 'past_due' },
    });
  });

  it('is that of a subscription’s life where the clock says the same', () => {
    const words: readonly StateWord[] = ['trialing', 'paid', 'unpaid', 'cancelled', 'ended'];
    words.forEach((later, index) => {
      for (const earlier of words.slice(0, index)) {
        expect(after([said(earlier, T1), said(later, T1)]).status, `${earlier} ${later}`).toBe(
          after([said(later, T1)]).status,
        );
        expect(heard([said(later, T1)], said(earlier, T1))).toEqual({ result: 'stale' });
      }
    });
  });

  it('is the same for two events of one moment and one meaning, whichever comes first', () => {
    const [one, two] = [
      said('paid', T1, { identity: 'a', seats: 2 }),
      said('paid', T1, { identity: 'b', seats: 5 }),
    ];
    expect(after([one, two]).quantity).toBe(5);
    expect(after([two, one]).quantity).toBe(5);
  });

  it('takes the same event twice for what it is', () => {
    const event = said('paid', T1);
    expect(after([event, event])).toEqual(after([event]));
  });
});

describe('a word about the whole', () => {
  it('brings everything along: until when, since when, how many seats', () => {
    const last = said('cancelled', T2, { expires: '2027-01-01T00:00:00Z', seats: 3 });
    expect(after([said('paid', T1, { seats: 9 }), last])).toMatchObject({
      status: 'cancelled',
      startedAt: at('2026-10-01T00:00:00Z'),
      expiresAt: at('2027-01-01T00:00:00Z'),
      quantity: 3,
    });
  });

  it('says what is sold, unless that was said here before', () => {
    const event = said('paid', T1, { product: 'theirs' });
    expect(after([event]).productId).toBe('product');
    const unknown = { ...fresh(), id: idOfRef(event.gateway, '1') };
    const hearing = hear(unknown, event, { holder: null, now: NOW });
    expect(hearing).toMatchObject({ subscription: { productId: 'theirs' } });
  });
});

describe('a word about a payment', () => {
  it('counts while it is newer than what was said of the whole', () => {
    expect(after([said('paid', T1), payment('payment-failed', T2)]).status).toBe('past_due');
    expect(heard([said('paid', T2)], payment('payment-failed', T1))).toEqual({ result: 'stale' });
    expect(after([said('paid', T1), payment('payment-failed', T2), payment('payment-made', T3)]).status).toBe(
      'active',
    );
    expect(after([said('paid', T1), payment('payment-failed', T2), said('paid', T3)])).toMatchObject({
      status: 'active',
      payment: null,
    });
  });

  it('holds against an older word about the whole that comes later', () => {
    expect(after([said('trialing', T1), payment('payment-failed', T3), said('paid', T2)]).status).toBe(
      'past_due',
    );
  });

  it('leaves a checkout a checkout, and what is over over', () => {
    expect(after([payment('payment-made', T1)]).status).toBe('pending');
    for (const word of ['cancelled', 'ended'] as const)
      for (const paid of PAYMENT_WORDS)
        expect(after([said(word, T1), payment(paid, T2)]).status, `${word} ${paid}`).toBe(
          after([said(word, T1)]).status,
        );
  });

  it('does not bring back what the sweep has expired', () => {
    const cancelled = after([said('cancelled', T1, { expires: T2 })]);
    const expired = lapse(cancelled, NOW)!;
    const hearing = hear(expired, payment('payment-made', T3), { holder: null, now: NOW });
    expect(hearing).toMatchObject({ subscription: { status: 'expired' } });
  });
});

describe('another active subscription of the same owner and SKU', () => {
  const inTheWay = { holder: OTHER, now: NOW };

  it('keeps a recovered one past due, and says so', () => {
    const unpaid = after([said('paid', T1), said('unpaid', T2)]);
    const hearing = hear(unpaid, said('paid', T3, { identity: 'recovery' }), inTheWay);
    expect(hearing).toMatchObject({
      collided: true,
      subscription: {
        status: 'past_due',
        expiresAt: at('2026-12-01T00:00:00Z'),
        collision: { wanted: 'active', heldBy: OTHER, eventId: 'lemonsqueezy.1.recovery', since: NOW },
      },
    });
  });

  it.each([
    ['trialing', 'trial'],
    ['paid', 'active'],
  ] as const)('keeps a new one that is %s past due', (word, wanted) => {
    expect(hear(fresh(), said(word, T1), inTheWay)).toMatchObject({
      collided: true,
      subscription: { status: 'past_due', collision: { wanted } },
    });
  });

  it('keeps a checkout out as well', () => {
    expect(hear(fresh(), payment('payment-made', T1), inTheWay)).toMatchObject({
      collided: true,
      subscription: { status: 'past_due', collision: { wanted: 'pending' } },
    });
  });

  it.each(['unpaid', 'cancelled', 'ended'] as const)('does not matter to one that is %s', (word) => {
    expect(hear(fresh(), said(word, T1), inTheWay)).toMatchObject({
      collided: false,
      subscription: { collision: null },
    });
  });

  it('does not matter to itself', () => {
    expect(hear(fresh(), said('paid', T1), { holder: MINE, now: NOW })).toMatchObject({ collided: false });
  });

  it('is decided by the same event again, once the other is gone', () => {
    const event = said('paid', T2);
    const collided = after([said('unpaid', T1), event], OTHER);
    expect(collided.status).toBe('past_due');
    expect(hear(collided, event, { holder: null, now: NOW })).toMatchObject({
      collided: false,
      subscription: { status: 'active', collision: null },
    });
  });

  it('is decided again by a payment too, also by the one that it began with', () => {
    const recovery = payment('payment-made', T2);
    const collided = after([said('unpaid', T1), recovery], OTHER);
    expect(collided).toMatchObject({ status: 'past_due', collision: { wanted: 'active' } });
    for (const event of [recovery, payment('payment-made', T3)]) {
      expect(hear(collided, event, inTheWay)).toMatchObject({ collided: true });
      expect(hear(collided, event, { holder: null, now: NOW })).toMatchObject({
        collided: false,
        subscription: { status: 'active', collision: null },
      });
    }
  });

  it('of a checkout is decided by what is said of the whole: nothing goes back to a checkout', () => {
    const event = payment('payment-made', T1);
    const collided = after([event], OTHER);
    expect(hear(collided, event, { holder: null, now: NOW })).toMatchObject({
      subscription: { status: 'past_due', collision: { wanted: 'pending' } },
    });
  });

  it('is forgotten when the gateway says something else of it', () => {
    const collided = after([said('paid', T1)], OTHER);
    expect(hear(collided, said('ended', T2), inTheWay)).toMatchObject({
      subscription: { status: 'expired', collision: null },
    });
  });

  it('is not forgotten over a payment that says nothing new', () => {
    const collided = after([said('paid', T1)], OTHER);
    expect(hear(collided, payment('payment-made', T2), inTheWay)).toMatchObject({
      subscription: { status: 'past_due', collision: { wanted: 'active' } },
    });
  });
});

describe('what was cancelled', () => {
  it('expires at its end, and nothing else does', () => {
    const cancelled = after([said('cancelled', T1, { expires: T3 })]);
    expect(lapse(cancelled, at(T2))).toBeNull();
    expect(lapse(cancelled, at(T3))).toEqual({ ...cancelled, status: 'expired' });
    expect(lapse({ ...cancelled, expiresAt: null }, at(T4))).toBeNull();
    for (const status of GATEWAY_STATUSES.filter((each) => each !== 'cancelled'))
      expect(lapse({ ...cancelled, status }, at(T4)), status).toBeNull();
  });

  it('goes on when it is resumed, also after its end', () => {
    const expired = lapse(after([said('cancelled', T1, { expires: T2 })]), NOW)!;
    expect(hear(expired, said('paid', T2), { holder: null, now: NOW })).toMatchObject({
      subscription: { status: 'active' },
    });
  });
});

describe('any events in any order', () => {
  /** Few moments, so that many are the same. */
  const moment = fc
    .integer({ min: 0, max: 5 })
    .map((hours) => formatInstant(instantFromMs(hours * 3_600_000)));
  const event = fc.oneof(
    fc
      .record({
        word: fc.constantFrom<StateWord>(...STATE_WORDS),
        when: moment,
        seats: fc.integer({ min: 1, max: 3 }),
        identity: fc.string({ minLength: 1, maxLength: 2 }),
      })
      .map(({ word, when, seats, identity }) => said(word, when, { seats, identity: `s${identity}` })),
    fc
      .record({ word: fc.constantFrom<PaymentWord>(...PAYMENT_WORDS), when: moment })
      .map(({ word, when }) => payment(word, when)),
  );
  const histories = fc
    .uniqueArray(event, { maxLength: 8, selector: ({ identity }) => identity })
    .chain((events) =>
      fc.tuple(
        fc.constant(events),
        fc.shuffledSubarray(events, { minLength: events.length }),
        fc.array(fc.nat(), { maxLength: 4 }),
      ),
    );

  it('make the same subscription, also when some come twice', () => {
    fc.assert(
      fc.property(histories, ([events, shuffled, again]) => {
        const repeated = again.flatMap((index) => events[index % Math.max(1, events.length)] ?? []);
        expect(after([...shuffled, ...repeated])).toEqual(after(events));
      }),
      { numRuns: 2_000 },
    );
  });

  it('never give an active one beside another', () => {
    fc.assert(
      fc.property(histories, ([events]) => {
        const { status, collision } = after(events, OTHER);
        if (events.length > 0) expect(['past_due', 'cancelled', 'expired']).toContain(status);
        if (collision !== null) expect(status).toBe('past_due');
      }),
    );
  });
});
