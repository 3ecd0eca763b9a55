import fc from 'fast-check';

/**
 * The suite is the same every time it runs: what it finds it finds here, not one day in somebody's CI. To look further,
 * `PROPERTY_SEED=$RANDOM PROPERTY_RUNS=20000 npx vitest run test/unit`.
 */
fc.configureGlobal({
  seed: Number(process.env['PROPERTY_SEED'] ?? 20_261_116),
  ...(process.env['PROPERTY_RUNS'] === undefined ? {} : { numRuns: Number(process.env['PROPERTY_RUNS']) }),
});
