import { SignedDataVerifier } from '@apple/app-store-server-library';
import { describe, expect, it, vi } from 'vitest';
import { EVENTS } from '../../../src/adapters/gateways/apple/events.ts';
import { readEvent, showEvent } from '../../../src/adapters/gateways/apple/read-event.ts';
import { verifyWith } from '../../../src/adapters/gateways/apple/verify.ts';
import { MalformedEventError } from '../../../src/errors.ts';
import { certificate } from '../../support/certificates.ts';
import type { AppleOptions, Chain } from '../../support/gateway-payloads.ts';
import {
  APPLE,
  INTERMEDIATE_MARK,
  LEAF_MARK,
  appleBody,
  appleChain,
  appleJws,
  applePost,
  deliveryOf,
} from '../../support/gateway-payloads.ts';
import { notedLog } from '../../support/noted-log.ts';
import { at } from '../../support/records.ts';

const CHAIN = appleChain();
const WHEN = '2026-11-01T10:00:00.123Z';
const TOKEN = '7e3fb204-2f1d-4f2c-9f1d-0a3c8d1c8b5e';
const OPTIONS = { ref: '2000000123', at: WHEN, token: TOKEN };
const bytes = (text: string): Uint8Array => Buffer.from(text);
const read = (type: string, more: Partial<AppleOptions> = {}) =>
  readEvent(bytes(appleBody(CHAIN, type, { ...OPTIONS, ...more })));

describe('a notification of Apple', () => {
  it('tells all of it', () => {
    const uuid = '002e14d5-51f5-4503-b5a8-c3a1af68eb20';
    expect(read('DID_RENEW', { uuid })).toEqual({
      gateway: 'apple_iap',
      name: 'DID_RENEW',
      identity: uuid,
      ref: '2000000123',
      claim: {
        subscriptionId: TOKEN,
        slot: { appId: APPLE.bundleId, ownerType: 'user', ownerId: TOKEN, sku: 'pro.monthly' },
      },
      report: {
        kind: 'state',
        word: 'paid',
        at: at(WHEN),
        startedAt: at('2026-10-01T00:00:00Z'),
        expiresAt: at('2026-12-01T00:00:00Z'),
        quantity: 1,
        productId: 'pro.monthly',
      },
    });
  });

  const FREE = { transaction: { offerDiscountType: 'FREE_TRIAL' } };

  it.each<[string, string | undefined, object, string]>([
    ['SUBSCRIBED', 'INITIAL_BUY', {}, 'paid'],
    ['SUBSCRIBED', 'RESUBSCRIBE', {}, 'paid'],
    ['SUBSCRIBED', 'INITIAL_BUY', FREE, 'trialing'],
    ['SUBSCRIBED', 'INITIAL_BUY', { transaction: { offerDiscountType: 'PAY_AS_YOU_GO' } }, 'paid'],
    ['DID_RENEW', undefined, {}, 'paid'],
    ['DID_RENEW', 'BILLING_RECOVERY', {}, 'paid'],
    ['DID_FAIL_TO_RENEW', undefined, {}, 'unpaid'],
    ['DID_FAIL_TO_RENEW', 'GRACE_PERIOD', {}, 'unpaid'],
    ['GRACE_PERIOD_EXPIRED', undefined, {}, 'unpaid'],
    ['DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_DISABLED', {}, 'cancelled'],
    ['DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_ENABLED', {}, 'paid'],
    ['DID_CHANGE_RENEWAL_STATUS', 'AUTO_RENEW_ENABLED', FREE, 'trialing'],
    ['EXPIRED', 'VOLUNTARY', {}, 'ended'],
    ['EXPIRED', 'BILLING_RETRY', {}, 'ended'],
    ['EXPIRED', 'PRICE_INCREASE', {}, 'ended'],
    ['EXPIRED', 'PRODUCT_NOT_FOR_SALE', {}, 'ended'],
    ['REVOKE', undefined, {}, 'ended'],
    ['REFUND', undefined, {}, 'ended'],
  ])('%s %s %j says %s', (type, subtype, more, word) => {
    const event = read(type, { ...(subtype === undefined ? {} : { subtype }), ...more });
    expect(event.report).toMatchObject({ kind: 'state', word });
    expect(event.name).toBe(subtype === undefined ? type : `${type}/${subtype}`);
  });

  it.each(Object.keys(EVENTS).filter((name) => EVENTS[name] === 'no-change'))('%s says nothing', (type) => {
    expect(read(type)).toMatchObject({ ref: '2000000123', report: { kind: 'none', reason: 'no-change' } });
  });

  it.each(['Consumable', 'Non-Consumable', 'Non-Renewing Subscription'])(
    'about a %s that is refunded or revoked ends no subscription',
    (type) => {
      const transaction = { type, expiresDate: undefined };
      for (const name of ['REFUND', 'REVOKE'])
        expect(read(name, { transaction })).toMatchObject({
          ref: '2000000123',
          claim: { subscriptionId: null, slot: null },
          report: { kind: 'none', reason: 'no-change' },
        });
    },
  );

  it('that we do not know is kept, with its subscription', () => {
    for (const type of ['SOMETHING_NEW', 'constructor', 'DID_CHANGE_RENEWAL_STATUS'])
      expect(read(type)).toMatchObject({
        ref: '2000000123',
        report: { kind: 'none', reason: 'unknown-event' },
      });
  });

  it('without a transaction is about no subscription', () => {
    const data = { signedTransactionInfo: undefined, signedRenewalInfo: undefined };
    expect(read('TEST', { data })).toMatchObject({ ref: null, report: { kind: 'none' } });
    expect(() => read('DID_RENEW', { data })).toThrow(MalformedEventError);
  });

  const [PERIOD, GRACE, REVOKED] = [
    '2026-12-01T00:00:00Z',
    '2026-12-10T00:00:00Z',
    '2026-11-05T00:00:00Z',
  ].map((text) => at(text));
  const renewal = { gracePeriodExpiresDate: Date.parse('2026-12-10T00:00:00Z') };
  const transaction = { revocationDate: Date.parse('2026-11-05T00:00:00Z') };

  it.each([
    ['DID_FAIL_TO_RENEW', { subtype: 'GRACE_PERIOD', renewal }, GRACE],
    ['DID_FAIL_TO_RENEW', { renewal }, PERIOD],
    ['GRACE_PERIOD_EXPIRED', { renewal }, PERIOD],
    ['REFUND', { transaction }, REVOKED],
    ['REVOKE', { transaction }, REVOKED],
    ['EXPIRED', {}, PERIOD],
  ])('%s %j says until when', (type, more, until) => {
    expect(read(type, more).report).toMatchObject({ expiresAt: until });
  });

  it('carries along what the purchase was given, or nothing', () => {
    const { ref, at: when } = OPTIONS;
    expect(readEvent(bytes(appleBody(CHAIN, 'DID_RENEW', { ref, at: when }))).claim).toEqual({
      subscriptionId: null,
      slot: null,
    });
  });

  it.each([
    ['no JSON', 'nonsense'],
    ['nothing signed', '{}'],
    ['no signed text', '{"signedPayload":"x"}'],
    ['no JSON inside', '{"signedPayload":"a.b.c"}'],
    ['no type', JSON.stringify({ signedPayload: appleJws(CHAIN, {}) })],
    [
      'a date that nobody can write',
      appleBody(CHAIN, 'DID_RENEW', { ...OPTIONS, transaction: { expiresDate: 1e17 } }),
    ],
  ])('with %s cannot be read, and that is all', (_, body) => {
    expect(() => readEvent(bytes(body))).toThrow(MalformedEventError);
  });

  it('is shown as what it says', () => {
    expect(showEvent(bytes(appleBody(CHAIN, 'DID_RENEW', OPTIONS)))).toMatchObject({
      notification: { notificationType: 'DID_RENEW' },
      transaction: { originalTransactionId: '2000000123' },
      renewal: { autoRenewStatus: 1 },
    });
  });
});

describe('its signature', () => {
  const settings = (chain: Chain, more: object = {}) => ({
    rootCertificates: [chain.root.der],
    bundleId: APPLE.bundleId,
    appId: APPLE.appId as number | undefined,
    environment: 'Production' as const,
    ...more,
  });
  const { log, lines } = notedLog();
  const verify = verifyWith(settings(CHAIN), log);
  const verified = (body: string): Promise<boolean> => verify(deliveryOf(applePost(body)));

  it('by Apple, for our app, is accepted', async () => {
    expect(await verified(appleBody(CHAIN, 'DID_RENEW', OPTIONS))).toBe(true);
    const bare = { data: { signedTransactionInfo: undefined, signedRenewalInfo: undefined } };
    expect(await verified(appleBody(CHAIN, 'TEST', { ...OPTIONS, ...bare }))).toBe(true);
  });

  const { appId: appAppleId, bundleId, environment } = APPLE;

  it.each([
    ['RENEWAL_EXTENSION', 'summary', { environment, bundleId, succeededCount: 1, failedCount: 0 }],
    ['EXTERNAL_PURCHASE_TOKEN', 'externalPurchaseToken', { externalPurchaseId: 'token-1', bundleId }],
    ['RESCIND_CONSENT', 'appData', { environment, bundleId }],
  ])('over a %s, which has %s and no data, is for our app too', async (notificationType, part, content) => {
    const body = (appId: number) =>
      JSON.stringify({
        signedPayload: appleJws(CHAIN, {
          notificationType,
          notificationUUID: '002e14d5-51f5-4503-b5a8-c3a1af68eb20',
          signedDate: Date.parse(WHEN),
          [part]: { ...content, appAppleId: appId },
        }),
      });
    expect(await verified(body(appAppleId))).toBe(true);
    expect(readEvent(bytes(body(appAppleId)))).toMatchObject({ ref: null, report: { reason: 'no-change' } });
    expect(await verified(body(1))).toBe(false);
  });

  const stranger = appleChain();
  const chainWith = (change: Partial<Record<'intermediate' | 'leaf', object>>): Chain => {
    const { root } = CHAIN;
    const intermediate = certificate({
      name: 'Test CA',
      issuer: root,
      isAuthority: true,
      markedWith: INTERMEDIATE_MARK,
      ...change.intermediate,
    });
    const leaf = certificate({ name: 'Test', issuer: intermediate, markedWith: LEAF_MARK, ...change.leaf });
    return { root, intermediate, leaf };
  };
  const past = { from: new Date('2020-01-01T00:00:00Z'), to: new Date('2021-01-01T00:00:00Z') };

  it('of a chain like Apple’s is accepted', async () => {
    expect(await verified(appleBody(chainWith({}), 'DID_RENEW', OPTIONS))).toBe(true);
  });

  it.each<[string, Chain]>([
    ['another root', stranger],
    ['our root beside another chain', { ...stranger, root: CHAIN.root }],
    ['an intermediate that is not marked', chainWith({ intermediate: { markedWith: '1.2.3' } })],
    ['an intermediate that is no authority', chainWith({ intermediate: { isAuthority: false } })],
    ['a leaf that is not marked', chainWith({ leaf: { markedWith: '1.2.3' } })],
    [
      'a leaf of the intermediate’s name and another key',
      chainWith({ leaf: { issuer: { ...stranger.intermediate, name: 'Test CA' } } }),
    ],
    ['a certificate that had ended', chainWith({ leaf: past })],
  ])('with %s is refused', async (_, chain) => {
    expect(await verified(appleBody(chain, 'DID_RENEW', OPTIONS))).toBe(false);
  });

  it('over a part that somebody else signed is refused', async () => {
    for (const part of ['signedTransactionInfo', 'signedRenewalInfo'] as const) {
      const forged = appleJws(stranger, { bundleId: APPLE.bundleId, environment: 'Production' });
      expect(await verified(appleBody(CHAIN, 'DID_RENEW', { ...OPTIONS, data: { [part]: forged } }))).toBe(
        false,
      );
    }
  });

  it('for another app, bundle or environment is refused', async () => {
    const bodies = [
      { data: { bundleId: 'com.example.other' } },
      { data: { appAppleId: 1 } },
      { data: { environment: 'Sandbox' } },
      { transaction: { bundleId: 'com.example.other' } },
      { transaction: { environment: 'Sandbox' } },
      { renewal: { environment: 'Sandbox' } },
      { data: { environment: 'Xcode' } },
      { data: { environment: 'LocalTesting' } },
    ];
    for (const more of bodies)
      expect(
        await verified(appleBody(CHAIN, 'DID_RENEW', { ...OPTIONS, ...more })),
        JSON.stringify(more),
      ).toBe(false);
  });

  it('that is refused leaves the word of the library in the log, and nothing of the body', async () => {
    const other = appleBody(CHAIN, 'DID_RENEW', { ...OPTIONS, data: { environment: 'Sandbox' } });
    const bodies = [other, appleBody(stranger, 'DID_RENEW', OPTIONS), 'nonsense'];
    lines.splice(0);
    for (const body of bodies) expect(await verified(body)).toBe(false);
    expect(lines.map(({ level, fields }) => [level, fields])).toEqual([
      ['warn', { status: 'INVALID_ENVIRONMENT' }],
      ['warn', { status: 'VERIFICATION_FAILURE' }],
      ['warn', { status: 'MALFORMED' }],
    ]);
  });

  it('is not called forged for a fault of ours', async () => {
    const broken = vi
      .spyOn(SignedDataVerifier.prototype, 'verifyAndDecodeNotification')
      .mockRejectedValueOnce(new TypeError('a fault of ours'));
    await expect(verified(appleBody(CHAIN, 'DID_RENEW', OPTIONS))).rejects.toThrow('a fault of ours');
    broken.mockRestore();
  });

  it('is compared with the app in the sandbox too, where it is known', async () => {
    const sandbox = { environment: 'Sandbox' };
    const body = (appAppleId: number | undefined) =>
      appleBody(CHAIN, 'DID_RENEW', {
        ...OPTIONS,
        data: { ...sandbox, appAppleId },
        transaction: sandbox,
        renewal: sandbox,
      });
    const inSandbox = verifyWith(settings(CHAIN, { environment: 'Sandbox' }), log);
    const asks = (appId: number | undefined) => inSandbox(deliveryOf(applePost(body(appId))));
    expect(await asks(APPLE.appId)).toBe(true);
    expect(await asks(undefined)).toBe(true);
    expect(await asks(1)).toBe(false);
    const ofAnyApp = verifyWith(settings(CHAIN, { environment: 'Sandbox', appId: undefined }), log);
    expect(await ofAnyApp(deliveryOf(applePost(body(1))))).toBe(true);
  });

  it.each([
    ['cut', (jws: string) => jws.slice(0, -8)],
    ['without a signature', (jws: string) => `${jws.split('.').slice(0, 2).join('.')}.`],
    [
      'with one character changed',
      // Not the last one: most of its bits are of no byte.
      (jws: string) => jws.replace(/.(?=.{20}$)/, (one) => (one === 'A' ? 'B' : 'A')),
    ],
    [
      'with its algorithm turned off',
      (jws: string) =>
        [Buffer.from('{"alg":"none","x5c":[]}').toString('base64url'), jws.split('.')[1], ''].join('.'),
    ],
    [
      'over another text',
      (jws: string) => {
        const [header, content = '', signature] = jws.split('.');
        const said = JSON.parse(Buffer.from(content, 'base64url').toString()) as object;
        const forged = Buffer.from(JSON.stringify({ ...said, notificationType: 'REFUND' }));
        return [header, forged.toString('base64url'), signature].join('.');
      },
    ],
    [
      'with two certificates',
      (jws: string) => {
        const [header = '', ...rest] = jws.split('.');
        const { x5c, ...more } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { x5c: string[] };
        return [
          Buffer.from(JSON.stringify({ ...more, x5c: x5c.slice(0, 2) })).toString('base64url'),
          ...rest,
        ].join('.');
      },
    ],
  ])('%s is refused', async (_, change) => {
    const { signedPayload } = JSON.parse(appleBody(CHAIN, 'DID_RENEW', OPTIONS)) as { signedPayload: string };
    expect(await verified(JSON.stringify({ signedPayload: change(signedPayload) }))).toBe(false);
  });

  it.each(['', 'nonsense', '{}', '[]', 'null', '{"signedPayload":7}', '{"signedPayload":""}'])(
    'is looked for in vain in %j',
    async (body) => {
      expect(await verified(body)).toBe(false);
    },
  );
});
