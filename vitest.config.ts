import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';
import { plantedFault } from './test/support/planted-fault.ts';

const all = {
  // The files of a worker share its process: what they import, the AWS SDK above all, is loaded once.
  isolate: false,
  setupFiles: ['test/support/property-seed.ts'],
  // These only end what hangs: a slow machine with neighbours takes several times as long, and that is no failure.
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 480_000, interval: 50 } },
};

export default defineConfig({
  plugins: [plantedFault(process.env['MUTANT'])],
  test: {
    pool: 'forks',
    // Most tests wait for servers and leases most of the time; by default two cores would run one file at a time.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    env: { AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true' },
    projects: [
      {
        extends: true,
        test: {
          ...all,
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: ['test/unit/**'],
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
      {
        extends: true,
        // Pure, or nearly so: they need no servers.
        test: { ...all, name: 'unit', include: ['test/unit/**/*.test.ts'] },
      },
      {
        extends: true,
        // The simulation's store must be what DynamoDB is to our adapters: it passes the same suite.
        test: {
          ...all,
          name: 'simulated store',
          include: ['test/contract/**/*.test.ts'],
          // It compares the two stores with each other, so it needs DynamoDB Local and brings its own simulated one.
          exclude: ['test/contract/dynamodb/raw-requests.test.ts'],
          globalSetup: ['test/support/simulated-store-setup.ts'],
        },
      },
    ],
  },
});
