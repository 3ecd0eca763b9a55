import { createMetrics } from '../src/adapters/metrics/prometheus.ts';
import { runRole } from './role.ts';
import { startWorkers } from './start-workers.ts';

await runRole('workers', (log) => startWorkers(process.env, { log, metrics: createMetrics() }));
