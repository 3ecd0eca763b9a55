import { z } from 'zod';
import { MalformedEventError } from '../../../errors.ts';
import { jsonOf, optional, parsed } from '../json-body.ts';

const envelope = z.object({ signedPayload: z.string() });
const inside = z.object({
  data: optional(
    z.object({ signedTransactionInfo: optional(z.string()), signedRenewalInfo: optional(z.string()) }),
  ),
});

/** The signed texts of a notification: the whole, and the two that it carries. */
export interface SignedTexts {
  readonly notification: string;
  readonly transaction: string | null;
  readonly renewal: string | null;
}

/** Whether they are signed is another question. Throws a MalformedEventError. */
export function signedTextsIn(body: Uint8Array): SignedTexts {
  const { signedPayload: notification } = parsed(envelope, jsonOf(body));
  const { data } = parsed(inside, contentOf(notification));
  return {
    notification,
    transaction: data?.signedTransactionInfo ?? null,
    renewal: data?.signedRenewalInfo ?? null,
  };
}

/** What a JWS says, in JSON between two dots. */
export function contentOf(jws: string): unknown {
  const [, content, signature] = jws.split('.');
  if (content === undefined || signature === undefined) throw new MalformedEventError('not a signed text');
  return jsonOf(Buffer.from(content, 'base64url'));
}
