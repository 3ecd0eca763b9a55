import {
  Environment,
  SignedDataVerifier,
  VerificationException,
  VerificationStatus,
} from '@apple/app-store-server-library';
import { MalformedEventError } from '../../../errors.ts';
import type { Verify } from '../../../ports/gateways.ts';
import type { Log } from '../../../ports/log.ts';
import type { GatewaySettings } from '../gateway-adapter.ts';
import { signedTextsIn } from './signed-payload.ts';

type AppleSettings = NonNullable<GatewaySettings['apple']>;

/** Of the others the library verifies nothing. */
const ENVIRONMENTS = { Production: Environment.PRODUCTION, Sandbox: Environment.SANDBOX } as const;

/** Asking Apple whether a certificate was revoked would make each answer depend on another server. The root is pinned. */
const ASK_APPLE = false;

export function verifyWith(
  { rootCertificates, bundleId, appId, environment }: AppleSettings,
  log: Pick<Log, 'warn'>,
): Verify {
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
  /** A wrong bundle or environment of ours looks like this as well: the word of the library tells which it was. */
  const refused = (status: string): false => {
    log.warn({ status }, 'a notification was not signed by Apple for us');
    return false;
  };
  return async ({ body }) => {
    try {
      const { notification, transaction, renewal } = signedTextsIn(body);
      const { data } = await verifier.verifyAndDecodeNotification(notification);
      if (transaction !== null) await verifier.verifyAndDecodeTransaction(transaction);
      if (renewal !== null) await verifier.verifyAndDecodeRenewalInfo(renewal);
      return isOurApp(data?.appAppleId) || refused('INVALID_APP_IDENTIFIER');
    } catch (error) {
      if (error instanceof VerificationException) return refused(VerificationStatus[error.status]);
      if (error instanceof MalformedEventError) return refused('MALFORMED');
      // A fault of ours is no forgery: Apple sends again what is not taken.
      throw error;
    }
  };
}
