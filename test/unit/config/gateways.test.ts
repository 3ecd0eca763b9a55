import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config/read-config.ts';
import * as sections from '../../../src/config/sections.ts';
import { certificate } from '../../support/certificates.ts';
import { temporaryFolder } from '../../support/stack.ts';

const read = (environment: Record<string, string>) =>
  readConfig(environment, { gateways: sections.gateways }).gateways;

const [one, two] = [certificate({ name: 'One' }), certificate({ name: 'Two' })];
const pem = (der: Uint8Array): string => new X509Certificate(der).toString();
const IDS = { APPLE_BUNDLE_ID: 'com.example.app', APPLE_APP_ID: '1234567890' };
const base64 = one.der.toString('base64');

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
  writeFileSync(join(folder.path, 'one.cer'), one.der);
  writeFileSync(join(folder.path, 'two.pem'), pem(two.der));
});
afterAll(() => folder.remove());

describe('gateways', () => {
  it('are off unless they have their secret', () => {
    expect(read({})).toEqual({ lemonSqueezy: null, apple: null });
    expect(read({ LEMONSQUEEZY_SECRET: 'a-secret' }).lemonSqueezy).toEqual({ secret: 'a-secret' });
    expect(read({ ...IDS, APPLE_ENVIRONMENT: 'Sandbox' }).apple).toBeNull();
  });

  it('of Apple take roots as files or as text', () => {
    const rootsOf = (text: string) => read({ ...IDS, APPLE_ROOT_CERTS: text }).apple?.rootCertificates;
    const [cer, both] = [
      join(folder.path, 'one.cer'),
      ['one.cer', 'two.pem'].map((name) => join(folder.path, name)),
    ];
    expect(rootsOf(cer)).toEqual([one.der]);
    expect(rootsOf(both.join(', '))).toEqual([one.der, two.der]);
    expect(rootsOf(base64)).toEqual([one.der]);
    expect(rootsOf(`${base64},${two.der.toString('base64')}`)).toEqual([one.der, two.der]);
    expect(rootsOf(pem(one.der) + pem(two.der))).toEqual([one.der, two.der]);
    expect(rootsOf(pem(one.der).replaceAll('\n', '\\n'))).toEqual([one.der]);
  });

  it('of Apple are those of production unless somebody says so', () => {
    expect(read({ ...IDS, APPLE_ROOT_CERTS: base64 }).apple).toMatchObject({
      bundleId: 'com.example.app',
      appId: 1_234_567_890,
      environment: 'Production',
    });
    const sandbox = { APPLE_BUNDLE_ID: 'com.example.app', APPLE_ENVIRONMENT: 'Sandbox' };
    expect(read({ ...sandbox, APPLE_ROOT_CERTS: base64 }).apple).toMatchObject({
      appId: undefined,
      environment: 'Sandbox',
    });
  });

  it.each([
    [{ APPLE_ROOT_CERTS: '/nowhere/root.cer', ...IDS }, /APPLE_ROOT_CERTS.*files of certificates/],
    [{ APPLE_ROOT_CERTS: 'x'.repeat(300), ...IDS }, /APPLE_ROOT_CERTS/],
    [{ APPLE_ROOT_CERTS: base64, APPLE_APP_ID: '1' }, /APPLE_BUNDLE_ID is not set/],
    [{ APPLE_ROOT_CERTS: base64, APPLE_BUNDLE_ID: 'com.example.app' }, /APPLE_APP_ID is not set/],
    [{ APPLE_ENVIRONMENT: 'Xcode' }, /APPLE_ENVIRONMENT.*one of Production, Sandbox/],
    [{ APPLE_APP_ID: 'x' }, /APPLE_APP_ID/],
  ])('that are half configured are refused: %#', (environment, message) => {
    expect(() => read(environment as Record<string, string>)).toThrow(message);
  });

  it('do not show their secret', () => {
    expect(() => read({ LEMONSQUEEZY_SECRET: 'two words' })).toThrow(/LEMONSQUEEZY_SECRET must be/);
  });
});
