import { Sha256 } from '@aws-crypto/sha256-js';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { SignatureV4 } from '@smithy/signature-v4';

export interface RequestToSign {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Answers the headers to send: those given, and the proof of who we are. */
export type SignRequest = (request: RequestToSign) => Promise<Record<string, string>>;

export interface SigV4Options {
  readonly region: string;
  /** Where the AWS SDK looks by default when left out. */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
}

/**
 * AWS Signature Version 4 for a service behind API Gateway. Signed with the real time, never billing time: AWS refuses
 * what is more than five minutes off.
 */
export function sigV4({ region, credentials }: SigV4Options): SignRequest {
  const signer = new SignatureV4({
    service: 'execute-api',
    region,
    credentials: credentials ?? defaultProvider(),
    sha256: Sha256,
  });
  return async ({ method, url, headers, body }) => {
    const signed = await signer.sign({
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: { ...headers, host: url.host },
      body,
    });
    // `fetch` writes the host itself, from the same URL.
    return Object.fromEntries(Object.entries(signed.headers).filter(([name]) => name !== 'host'));
  };
}
