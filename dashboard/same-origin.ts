import type { Request } from 'express';

/**
 * Whether a page of ours sent it. Browsers say so themselves; an older one at least names the page's origin. A client
 * that says neither is no browser, and has the API.
 */
export function isFromOurPages(request: Request): boolean {
  const site = request.get('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin';
  return hostOf(request.get('origin')) === (request.get('host') ?? null);
}

/** Null for none, and for `null`, which sandboxed frames send. */
function hostOf(origin: string | undefined): string | null {
  return origin !== undefined && URL.canParse(origin) ? new URL(origin).host : null;
}
