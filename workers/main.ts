import { openMetrics } from '../src/wiring/metrics.ts';
import { runRole } from '../src/wiring/role.ts';
import { startWorkers } from './start-workers.ts';

await runRole('workers', (log) => startWorkers(process.env, { log, metrics: openMetrics(process.env) }));
