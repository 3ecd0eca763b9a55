import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
/** No path is that long and nothing but letters. */
const BASE64 = /^[A-Za-z0-9+/\s]{200,}={0,2}$/;

/**
 * Certificates as DER, from their text (PEM, or base64 with commas between) or from files (PEM or DER, commas between).
 * Throws what is wrong with them.
 */
export function certificatesFrom(text: string): readonly Uint8Array[] {
  const inline = pemsIn(text.replaceAll('\\n', '\n'));
  if (inline.length > 0) return inline;
  return text.split(',').flatMap((entry) => certificatesOf(entry.trim()));
}

function certificatesOf(entry: string): Uint8Array[] {
  const bytes = BASE64.test(entry) ? Buffer.from(entry, 'base64') : readFileSync(entry);
  const pems = pemsIn(bytes.toString('latin1'));
  return pems.length > 0 ? pems : [new X509Certificate(bytes).raw];
}

const pemsIn = (text: string): Uint8Array[] =>
  [...text.matchAll(PEM)].map(([pem]) => new X509Certificate(pem).raw);
