import { createMetrics } from '../src/adapters/metrics/prometheus.ts';
import { runRole } from './role.ts';
import { startScheduler } from './start-scheduler.ts';

await runRole('scheduler', (log) => startScheduler(process.env, { log, metrics: createMetrics() }));
