import { openMetrics } from '../../src/wiring/metrics.ts';
import { runRole } from '../../src/wiring/role.ts';
import { startBridges } from './start-bridges.ts';

await runRole('bridges', (log) => startBridges(process.env, { log, metrics: openMetrics(process.env) }));
