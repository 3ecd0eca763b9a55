import { alsoToDatadog } from '../adapters/metrics/dogstatsd.ts';
import { createMetrics } from '../adapters/metrics/prometheus.ts';
import type { Environment } from '../config/read-config.ts';
import { readConfig } from '../config/read-config.ts';
import { datadog } from '../config/sections.ts';
import type { Metrics } from '../ports/metrics.ts';

export function openMetrics(environment: Environment): Metrics {
  const { DD_AGENT_HOST: host } = readConfig(environment, { datadog }).datadog;
  return host === undefined ? createMetrics() : alsoToDatadog(createMetrics(), { host });
}
