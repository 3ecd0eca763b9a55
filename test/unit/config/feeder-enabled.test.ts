import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config/read-config.ts';
import { bridges } from '../../../src/config/sections.ts';

const read = (environment: Record<string, string>) =>
  readConfig(environment, { bridges }).bridges.FEEDER_ENABLED;

describe('FEEDER_ENABLED', () => {
  it('is off unless it is said: the Go service has a feeder too', () => {
    expect(read({})).toBe(false);
    expect(read({ FEEDER_ENABLED: 'false' })).toBe(false);
    expect(read({ FEEDER_ENABLED: 'true' })).toBe(true);
  });

  it('is refused as anything else', () => {
    expect(() => read({ FEEDER_ENABLED: 'yes' })).toThrow(
      /FEEDER_ENABLED is "yes"; must be one of true, false/,
    );
  });
});
