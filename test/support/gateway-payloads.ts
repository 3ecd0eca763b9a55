import { createHmac, randomUUID, sign } from 'node:crypto';
import type { Delivery } from '../../src/ports/gateways.ts';
import type { Certificate } from './certificates.ts';
import { certificate } from './certificates.ts';

/* Webhooks as the gateways send them: real bodies with real signatures, by keys that only tests have. */

export interface Post {
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export const deliveryOf = ({ body, headers }: Post): Delivery => ({
  body: Buffer.from(body),
  header: (name) => headers[name],
});

// ── Lemon Squeezy ────────────────────────────────────────────────────────────────────────────────────────────────────

export const LEMONSQUEEZY_SECRET = 'a-signing-secret-of-tests';

export interface CustomData {
  readonly app_id?: string;
  readonly user_id?: string;
  readonly sku?: string;
  readonly subscription_id?: string;
}

export interface LemonSqueezyOptions {
  readonly ref: string;
  readonly at: string;
  readonly custom?: CustomData;
  readonly status?: string;
  readonly attributes?: Readonly<Record<string, unknown>>;
}

const CREATED_AT = '2026-10-01T00:00:00.000000Z';

/** The whole of a subscription, as every event about one carries it. */
export const lemonSqueezyBody = (
  name: string,
  { ref, at, custom = {}, status = 'active', attributes = {} }: LemonSqueezyOptions,
): string =>
  JSON.stringify({
    meta: { event_name: name, custom_data: custom, test_mode: false, webhook_id: 'f0b1' },
    data: {
      type: 'subscriptions',
      id: ref,
      attributes: {
        store_id: 1,
        customer_id: 2,
        order_id: 3,
        order_item_id: 4,
        product_id: 5,
        variant_id: 6,
        product_name: 'Pro',
        user_name: 'Jane Doe',
        user_email: 'jane@example.com',
        status,
        card_brand: 'visa',
        card_last_four: '4242',
        pause: null,
        cancelled: status === 'cancelled',
        trial_ends_at: null,
        billing_anchor: 1,
        first_subscription_item: { id: 7, subscription_id: Number(ref), price_id: 8, quantity: 1 },
        urls: { customer_portal: 'https://my-store.lemonsqueezy.com/billing?signature=secret' },
        renews_at: '2026-12-01T00:00:00.000000Z',
        ends_at: null,
        created_at: CREATED_AT,
        updated_at: at,
        test_mode: false,
        ...attributes,
      },
    },
  });

/** An invoice of it, as events about payments carry one. */
export const lemonSqueezyInvoice = (
  name: string,
  { ref, at, custom = {}, status = 'paid', attributes = {} }: LemonSqueezyOptions,
): string =>
  JSON.stringify({
    meta: { event_name: name, custom_data: custom, test_mode: false },
    data: {
      type: 'subscription-invoices',
      id: '900',
      attributes: {
        subscription_id: Number(ref),
        user_email: 'jane@example.com',
        billing_reason: 'renewal',
        status,
        total: 999,
        created_at: CREATED_AT,
        updated_at: at,
        ...attributes,
      },
    },
  });

export const lemonSqueezySignature = (body: string | Uint8Array, secret = LEMONSQUEEZY_SECRET): string =>
  createHmac('sha256', secret).update(body).digest('hex');

export const lemonSqueezyPost = (body: string): Post => ({
  path: '/webhooks/lemonsqueezy',
  body,
  headers: {
    'content-type': 'application/json',
    'x-signature': lemonSqueezySignature(body),
    'x-event-name': 'whatever-anybody-wrote-here',
  },
});

export const lemonSqueezy = (name: string, options: LemonSqueezyOptions): Post => {
  const isPayment = name.startsWith('subscription_payment_');
  return lemonSqueezyPost((isPayment ? lemonSqueezyInvoice : lemonSqueezyBody)(name, options));
};

// ── Apple ────────────────────────────────────────────────────────────────────────────────────────────────────────────

export const APPLE = {
  bundleId: 'com.example.app',
  appId: 1_234_567_890,
  environment: 'Production',
} as const;

/** What Apple's certificates are marked with. */
export const INTERMEDIATE_MARK = '1.2.840.113635.100.6.2.1';
export const LEAF_MARK = '1.2.840.113635.100.6.11.1';

export interface Chain {
  readonly root: Certificate;
  readonly intermediate: Certificate;
  readonly leaf: Certificate;
}

export function appleChain(change: Partial<Chain> = {}): Chain {
  const root = change.root ?? certificate({ name: 'Test Root', isAuthority: true });
  const intermediate =
    change.intermediate ??
    certificate({ name: 'Test CA', issuer: root, isAuthority: true, markedWith: INTERMEDIATE_MARK });
  const leaf =
    change.leaf ?? certificate({ name: 'Test Signing', issuer: intermediate, markedWith: LEAF_MARK });
  return { root, intermediate, leaf };
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A JWS in ES256 with its chain in the header, as Apple signs. */
export function appleJws({ root, intermediate, leaf }: Chain, content: object): string {
  const header = {
    alg: 'ES256',
    x5c: [leaf, intermediate, root].map((each) => each.der.toString('base64')),
  };
  const text = `${base64url(header)}.${base64url(content)}`;
  const signature = sign('sha256', Buffer.from(text), { key: leaf.key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}

export interface AppleOptions {
  readonly ref: string;
  readonly at: string;
  readonly subtype?: string;
  readonly token?: string;
  readonly uuid?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly transaction?: Readonly<Record<string, unknown>>;
  readonly renewal?: Readonly<Record<string, unknown>>;
}

const ms = (text: string): number => Date.parse(text);

/** Signs with a chain of its own what Apple would send. */
export function appleBody(chain: Chain, type: string, options: AppleOptions): string {
  const { ref, at, subtype, token, uuid = randomUUID(), data = {}, transaction = {}, renewal = {} } = options;
  const { bundleId, appId: appAppleId, environment } = APPLE;
  const signedDate = ms(at);
  const transactionInfo = {
    originalTransactionId: ref,
    transactionId: `${ref}1`,
    bundleId,
    productId: 'pro.monthly',
    originalPurchaseDate: ms('2026-10-01T00:00:00Z'),
    purchaseDate: signedDate,
    expiresDate: ms('2026-12-01T00:00:00Z'),
    quantity: 1,
    type: 'Auto-Renewable Subscription',
    inAppOwnershipType: 'PURCHASED',
    environment,
    signedDate,
    ...(token === undefined ? {} : { appAccountToken: token }),
    ...transaction,
  };
  const renewalInfo = {
    originalTransactionId: ref,
    autoRenewProductId: 'pro.monthly',
    productId: 'pro.monthly',
    autoRenewStatus: 1,
    environment,
    signedDate,
    ...renewal,
  };
  return JSON.stringify({
    signedPayload: appleJws(chain, {
      notificationType: type,
      ...(subtype === undefined ? {} : { subtype }),
      notificationUUID: uuid,
      version: '2.0',
      signedDate,
      data: {
        appAppleId,
        bundleId,
        bundleVersion: '1',
        environment,
        signedTransactionInfo: appleJws(chain, transactionInfo),
        signedRenewalInfo: appleJws(chain, renewalInfo),
        ...data,
      },
    }),
  });
}

export const applePost = (body: string): Post => ({
  path: '/webhooks/apple',
  body,
  headers: { 'content-type': 'application/json' },
});

/** What makes a process take webhooks of both. */
export const gatewayEnvironment = ({ root }: Chain): Record<string, string> => ({
  LEMONSQUEEZY_SECRET,
  APPLE_ROOT_CERTS: root.der.toString('base64'),
  APPLE_BUNDLE_ID: APPLE.bundleId,
  APPLE_APP_ID: String(APPLE.appId),
  APPLE_ENVIRONMENT: APPLE.environment,
});
