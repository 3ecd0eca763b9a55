import { z } from 'zod';
import type { Health } from '../ports/health.ts';
import { probeStatus } from '../ports/health.ts';
import type { Metrics } from '../ports/metrics.ts';

interface ProbeAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** What machines ask that watch this process: no route of the table, because no caller's wish is behind it. */
export interface Probe {
  readonly path: string;
  readonly summary: string;
  readonly needsToken: boolean;
  /** What it may answer, by status. */
  readonly answers: Readonly<Record<number, z.ZodType>>;
  readonly contentType: string;
  readonly answer: () => Promise<ProbeAnswer>;
}

const JSON_TYPE = 'application/json';
const report = z.object({
  status: z.enum(['ready', 'degraded', 'not ready']),
  checks: z.record(z.string(), z.enum(['up', 'down'])),
});

const json = (status: number, body: object): ProbeAnswer => ({
  status,
  contentType: JSON_TYPE,
  body: JSON.stringify(body),
});

export const probesOf = (
  health: Health,
  metrics: Pick<Metrics, 'contentType' | 'text'>,
): readonly Probe[] => [
  {
    path: '/health/live',
    summary: 'Is the process alive?',
    needsToken: false,
    contentType: JSON_TYPE,
    answers: { 200: z.object({ status: z.literal('live') }) },
    answer: () => Promise.resolve(json(200, { status: 'live' })),
  },
  {
    path: '/health/ready',
    summary: 'Can it do its work? Names what is down',
    needsToken: false,
    contentType: JSON_TYPE,
    answers: { 200: report, 503: report },
    async answer() {
      const found = await health();
      return json(probeStatus(found), found);
    },
  },
  {
    path: '/metrics',
    summary: 'Figures for Prometheus',
    needsToken: true,
    contentType: 'text/plain',
    answers: { 200: z.string() },
    answer: async () => ({ status: 200, contentType: metrics.contentType, body: await metrics.text() }),
  },
];
