import type { KeyObject } from 'node:crypto';
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/*
 * X.509 certificates by hand, as few bytes as Apple's verifier looks at: whoever tests how signatures are checked needs
 * chains that are wrong in one place, and no tool makes those.
 */

const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = length > 0xff ? [0x82, length >> 8, length & 0xff] : [0x81, length];
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
};
const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const integer = (bytes: Uint8Array): Buffer => der(0x02, bytes);
const octets = (content: Uint8Array): Buffer => der(0x04, content);
const bits = (content: Uint8Array): Buffer => der(0x03, Buffer.from([0]), content);
const TRUE = Buffer.from([0x01, 0x01, 0xff]);
const NULL = Buffer.from([0x05, 0x00]);

function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  const base128 = (value: number): number[] => {
    const digits = [value & 0x7f];
    for (let left = value >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
    return digits;
  };
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

const utcTime = (date: Date): Buffer =>
  der(0x17, Buffer.from(`${date.toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)}Z`));

const nameOf = (commonName: string): Buffer =>
  sequence(der(0x31, sequence(oid('2.5.4.3'), der(0x0c, Buffer.from(commonName)))));

const ECDSA_WITH_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));

export interface Issuer {
  readonly name: string;
  readonly key: KeyObject;
}

export interface Certificate extends Issuer {
  readonly der: Buffer;
}

export interface CertificateOptions {
  readonly name: string;
  /** Itself, unless said otherwise. */
  readonly issuer?: Issuer;
  readonly isAuthority?: boolean;
  /** Of an extension that says nothing but that it is there. */
  readonly markedWith?: string;
  readonly from?: Date;
  readonly to?: Date;
}

export function certificate(options: CertificateOptions): Certificate {
  const { name, isAuthority = false, markedWith } = options;
  const { from = new Date('2020-01-01T00:00:00Z'), to = new Date('2040-01-01T00:00:00Z') } = options;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = options.issuer ?? { name, key: privateKey };
  const extensions = [
    ...(isAuthority ? [sequence(oid('2.5.29.19'), TRUE, octets(sequence(TRUE)))] : []),
    ...(markedWith === undefined ? [] : [sequence(oid(markedWith), octets(NULL))]),
  ];
  const content = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    nameOf(issuer.name),
    sequence(utcTime(from), utcTime(to)),
    nameOf(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length === 0 ? [] : [der(0xa3, sequence(...extensions))]),
  );
  const signature = sign('sha256', content, issuer.key);
  return { name, key: privateKey, der: sequence(content, ECDSA_WITH_SHA256, bits(signature)) };
}
