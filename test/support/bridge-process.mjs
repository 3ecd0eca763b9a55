// A bridge process as it runs in life, but for its times: a test does not wait half a minute until a dead one is missed.
import { createMetrics } from '../../dist/src/adapters/metrics/prometheus.js';
import { runRole } from '../../dist/src/wiring/role.js';
import { startBridges } from '../../dist/workers/bridges/start-bridges.js';

const times = JSON.parse(process.env.BRIDGE_TIMES);
const metrics = createMetrics();
const streamRecord = (stream, fate) => {
  metrics.streamRecord(stream, fate);
  if (fate === 'stored') process.send?.({ stored: 1 });
};

process.on('disconnect', () => process.exit(1));
await runRole('bridges', async (log) => {
  const running = await startBridges(process.env, { log, metrics: { ...metrics, streamRecord }, times });
  process.send?.({ up: true });
  return running;
});
