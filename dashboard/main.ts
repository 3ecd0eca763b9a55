import { openMetrics } from '../src/wiring/metrics.ts';
import { runRole } from '../src/wiring/role.ts';
import { startDashboard } from './start-dashboard.ts';

await runRole('dashboard', (log) => startDashboard(process.env, { log, metrics: openMetrics(process.env) }));
