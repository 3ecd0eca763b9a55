import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Verify } from '../../../ports/gateways.ts';

const HEX_DIGEST = /^[0-9a-f]{64}$/i;

/** `X-Signature` is the HMAC of the body as it came, with the secret that both sides know. */
export const verifyWith =
  (secret: string): Verify =>
  async ({ body, header }) => {
    const presented = header('x-signature') ?? '';
    if (!HEX_DIGEST.test(presented)) return false;
    const expected = createHmac('sha256', secret).update(body).digest();
    return timingSafeEqual(expected, Buffer.from(presented, 'hex'));
  };
