// A worker process as it runs in life, but for one thing: it dies, or falls asleep, exactly where a test tells it to.
import { openSync, closeSync } from 'node:fs';
import { createMetrics } from '../../dist/src/adapters/metrics/prometheus.js';
import { runRole } from '../../dist/src/wiring/role.js';
import { startWorkers } from '../../dist/workers/start-workers.js';

/** `[{ step, userId, signal, mark }]`: at that step of that member's collection, once over all processes. */
const points = JSON.parse(process.env.CRASH_POINTS ?? '[]');

function isFirst(mark) {
  try {
    closeSync(openSync(mark, 'wx'));
    return true;
  } catch {
    return false;
  }
}

const onStep = async (step, { userId }) => {
  const point = points.find((one) => one.step === step && one.userId === userId);
  if (point === undefined || !isFirst(point.mark)) return;
  process.send?.({ at: point });
  process.kill(process.pid, point.signal);
  // The signal arrives a moment later; nothing may happen in between.
  const until = Date.now() + 5_000;
  if (point.signal === 'SIGKILL') while (Date.now() < until);
};

process.on('disconnect', () => process.exit(1));
await runRole('workers', async (log) => {
  const running = await startWorkers(process.env, { log, metrics: createMetrics(), onStep });
  process.send?.({ up: true });
  return running;
});
