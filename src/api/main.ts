import { openMetrics } from '../wiring/metrics.ts';
import { runRole } from '../wiring/role.ts';
import { startApi } from './start-api.ts';

await runRole('api', (log) => startApi(process.env, { log, metrics: openMetrics(process.env) }));
