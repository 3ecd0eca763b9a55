import { Environment, SignedDataVerifier } from '@apple/app-store-server-library';
import type { Verify } from '../../../ports/gateways.ts';
import type { GatewaySettings } from '../gateway-adapter.ts';
import { signedTextsIn } from './signed-payload.ts';

type AppleSettings = NonNullable<GatewaySettings['apple']>;

/** Of the others the library verifies nothing. */
const ENVIRONMENTS = { Production: Environment.PRODUCTION, Sandbox: Environment.SANDBOX } as const;

/** Asking Apple whether a certificate was revoked would make each answer depend on another server. The root is pinned. */
const ASK_APPLE = false;

export function verifyWith({ rootCertificates, bundleId, appId, environment }: AppleSettings): Verify {
  const verifier = new SignedDataVerifier(
    rootCertificates.map((der) => Buffer.from(der)),
    ASK_APPLE,
    ENVIRONMENTS[environment],
    bundleId,
    appId,
  );
  /** The library compares the app in production only. */
  const isOurApp = (found: number | undefined): boolean =>
    appId === undefined || found === undefined || found === appId;
  return async ({ body }) => {
    try {
      const { notification, transaction, renewal } = signedTextsIn(body);
      const { data } = await verifier.verifyAndDecodeNotification(notification);
      if (transaction !== null) await verifier.verifyAndDecodeTransaction(transaction);
      if (renewal !== null) await verifier.verifyAndDecodeRenewalInfo(renewal);
      return isOurApp(data?.appAppleId);
    } catch {
      // Whatever it stumbled over, it did not find Apple's signature for us.
      return false;
    }
  };
}
