import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config/read-config.ts';
import { bridges } from '../../../src/config/sections.ts';
import { at } from '../../support/records.ts';

const read = (environment: Record<string, string>) =>
  readConfig(environment, { bridges }).bridges.KINESIS_START;

describe('KINESIS_START', () => {
  it('is the whole stream unless something else is said', () => {
    expect(read({})).toBe('TRIM_HORIZON');
  });

  it('may be the end, the beginning, or a time', () => {
    expect(read({ KINESIS_START: 'LATEST', ENVIRONMENT: 'prod' })).toBe('LATEST');
    expect(read({ KINESIS_START: 'TRIM_HORIZON', ENVIRONMENT: 'prod' })).toBe('TRIM_HORIZON');
    expect(read({ KINESIS_START: 'AT_TIMESTAMP:2026-11-16T00:00:00Z' })).toEqual({
      timestamp: at('2026-11-16T00:00:00Z'),
    });
  });

  it('must be said in prod', () => {
    expect(() => read({ ENVIRONMENT: 'prod' })).toThrow(/KINESIS_START is not set; it must be LATEST/);
  });

  it.each(['latest', 'AT_TIMESTAMP', 'AT_TIMESTAMP:yesterday', 'AT_TIMESTAMP:2026-02-30T00:00:00Z'])(
    'is refused as %s',
    (text) => {
      expect(() => read({ KINESIS_START: text })).toThrow(/KINESIS_START is .* must be LATEST, TRIM_HORIZON/);
    },
  );
});
