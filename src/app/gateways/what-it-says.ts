import { MalformedEventError } from '../../errors.ts';
import type { Gateway, StoredGatewayEvent } from '../../ports/gateways.ts';

/** A stored event for people to read. Null where it cannot be read. */
export function whatItSays(
  gateways: readonly Gateway[],
  { gateway, body }: StoredGatewayEvent,
): object | null {
  try {
    return gateways.find(({ name }) => name === gateway)?.show(body) ?? null;
  } catch (error) {
    if (error instanceof MalformedEventError) return null;
    throw error;
  }
}
