import { openMetrics } from '../src/wiring/metrics.ts';
import { runRole } from '../src/wiring/role.ts';
import { startScheduler } from './start-scheduler.ts';

await runRole('scheduler', (log) => startScheduler(process.env, { log, metrics: openMetrics(process.env) }));
