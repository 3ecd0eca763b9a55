import { expect, it } from 'vitest';
import { randomOf } from '../../../sim/random.ts';
import type { BankDial } from '../../../sim/world/sim-bank.ts';
import { SimBank } from '../../../sim/world/sim-bank.ts';
import { SimMembers } from '../../../sim/world/sim-members.ts';
import { Timeline } from '../../../sim/world/timeline.ts';

const KIND: BankDial = {
  cardDeclines: 0,
  achReturns: 0,
  lateReturns: 0,
  chargeBacks: 0,
  silentEntries: 0,
  callbackTwice: 0,
  callbackEarly: 0,
  callbackLate: 0,
  refundsRefused: 0,
};
const PAYMENTS = 40;
const RICH = {
  userId: 'rich',
  status: 'ACTIVE',
  statusSinceMs: 0,
  isEmployee: false,
  hasCard: true,
  hasAccount: true,
  balanceCents: 1_000_000,
  balanceSinceMs: 0,
};

function bankOf(mood: Partial<BankDial>, onTrouble: (kind: string) => void) {
  const timeline = new Timeline(0);
  const members = new SimMembers();
  members.add({ ...RICH });
  const again: string[] = [];
  const bank = new SimBank(timeline, randomOf(7, 'bank'), {
    dial: () => ({ ...KIND, ...mood }),
    members,
    hooks: {
      onLedger: () => undefined,
      onKeyReused: () => undefined,
      onRefundedAgain: (key) => void again.push(key),
      publish: () => undefined,
      onTrouble,
    },
  });
  return { bank, timeline, again };
}

/** What trouble a bank of this mood makes with some payments of somebody rich, until nothing is to come any more. */
async function troubleOf(mood: Partial<BankDial>): Promise<string[]> {
  const trouble = new Set<string>();
  const { bank, timeline } = bankOf(mood, (kind) => void trouble.add(kind));
  for (let i = 0; i < PAYMENTS; i += 1)
    bank.charge(`key ${i}`, {
      userId: RICH.userId,
      reference: `record ${i}`,
      rail: i % 2 === 0 ? 'ACH' : 'PINLESS',
      cents: 499,
      description: null,
    });
  while (await timeline.step());
  return [...trouble].sort();
}

it.each([
  [{}, []],
  [{ cardDeclines: 1 }, ['card-declined']],
  [{ achReturns: 1 }, ['entry-returned']],
  [{ lateReturns: 1 }, ['entry-returned', 'returned-after-completion']],
  [{ chargeBacks: 1 }, ['charged-back']],
  [{ silentEntries: 1 }, ['entry-silent']],
  [{ callbackTwice: 1 }, ['callback-twice']],
  [{ callbackEarly: 1 }, ['callback-early']],
  [{ callbackLate: 1 }, ['callback-late']],
  [
    { lateReturns: 1, callbackLate: 0.5 },
    ['callback-late', 'callback-overtaken', 'entry-returned', 'returned-after-completion'],
  ],
] as const)('a bank with %o makes this trouble and no other: %o', async (mood, trouble) => {
  expect(await troubleOf(mood)).toEqual(trouble);
});

const CARD = {
  userId: RICH.userId,
  reference: 'record',
  rail: 'PINLESS',
  cents: 499,
  description: null,
} as const;

it('gives a payment back once, and tells when it is asked under another key', () => {
  const { bank, again } = bankOf({}, () => undefined);
  const { confirmationId } = bank.charge('key', CARD);
  for (const key of ['back', 'back']) expect(bank.refund(key, confirmationId)?.status).toBe('COMPLETED');
  expect(again).toEqual([]);
  expect(bank.refund('once more', confirmationId)?.status).toBe('FAILED');
  expect(again).toEqual(['once more']);
  const credits = bank.ledger.filter(({ effect }) => effect === 'credit');
  expect(credits).toMatchObject([{ key: 'key', refundKey: 'back', confirmationId }]);
});

it('may refuse to give a payment back', () => {
  const trouble: string[] = [];
  const { bank } = bankOf({ refundsRefused: 1 }, (kind) => void trouble.push(kind));
  const { confirmationId } = bank.charge('key', CARD);
  expect(bank.refund('back', confirmationId)).toMatchObject({
    status: 'FAILED',
    errorCode: 'not_refundable',
  });
  expect(bank.ledger).toHaveLength(1);
  expect(trouble).toEqual(['refund-refused']);
});
