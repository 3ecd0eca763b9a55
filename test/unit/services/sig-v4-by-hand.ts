import { createHash, createHmac } from 'node:crypto';

export interface ReceivedRequest {
  readonly method: string;
  /** As it stood in the request line. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * AWS Signature Version 4 as its documentation spells it out, for requests without a query: what the other side
 * computes. Independent of the signer that production uses.
 */
export function signatureByHand(
  request: ReceivedRequest,
  signedHeaders: readonly string[],
  scope: { readonly day: string; readonly region: string; readonly service: string },
  secret: string,
): string {
  const canonical = [
    request.method,
    request.path.split('/').map(encodeURIComponent).join('/'),
    '',
    ...signedHeaders.map((name) => `${name}:${(request.headers[name] ?? '').trim()}`),
    '',
    signedHeaders.join(';'),
    sha256(request.body),
  ].join('\n');
  const toSign = [
    'AWS4-HMAC-SHA256',
    request.headers['x-amz-date'],
    `${scope.day}/${scope.region}/${scope.service}/aws4_request`,
    sha256(canonical),
  ].join('\n');
  const key = [scope.day, scope.region, scope.service, 'aws4_request'].reduce<string | Buffer>(
    (previous, part) => createHmac('sha256', previous).update(part).digest(),
    `AWS4${secret}`,
  );
  return createHmac('sha256', key).update(toSign).digest('hex');
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
