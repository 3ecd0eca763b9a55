import type { Metrics } from '../src/ports/metrics.ts';

/** What the processes that charge and read streams say of themselves. Null: none did. */
export interface Gauges {
  readonly breaker: 'open' | 'closed' | null;
  readonly lags: readonly { readonly stream: string; readonly seconds: number }[];
}

export type MetricsTexts = () => Promise<readonly string[]>;

const SCRAPE_MS = 1_500;

/** The metrics of this process, which under `npm start` is every role, and of the processes that it was told of. */
export const metricsTexts =
  (own: Pick<Metrics, 'text'>, urls: readonly string[]): MetricsTexts =>
  async () => {
    const answers = await Promise.allSettled([own.text(), ...urls.map(scrape)]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  };

async function scrape(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(SCRAPE_MS) });
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return response.text();
}

export async function readGauges(texts: MetricsTexts): Promise<Gauges> {
  const samples = (await texts()).flatMap(samplesOf);
  return { breaker: breakerIn(samples), lags: lagsIn(samples) };
}

interface Sample {
  readonly name: string;
  readonly labels: string;
  readonly value: number;
}

const WANTED = /^(collections_\w+)(?:\{([^}]*)\})? ([-+\d.eE]+)$/gm;

const samplesOf = (text: string): Sample[] =>
  [...text.matchAll(WANTED)].map(([, name = '', labels = '', value]) => ({
    name,
    labels,
    value: Number(value),
  }));

/**
 * Every process exports this gauge; those that never charge always report 0. So any open breaker counts, and "closed"
 * is believed only where a charge was sent.
 */
function breakerIn(samples: readonly Sample[]): Gauges['breaker'] {
  if (samples.some(({ name, value }) => name === 'collections_processor_breaker_open' && value === 1))
    return 'open';
  return samples.some(({ name }) => name === 'collections_attempts_total') ? 'closed' : null;
}

/** The worst shard of each stream. */
function lagsIn(samples: readonly Sample[]): Gauges['lags'] {
  const worst = new Map<string, number>();
  for (const { name, labels, value } of samples) {
    const [, stream] = /stream="([^"]*)"/.exec(labels) ?? [];
    if (name !== 'collections_stream_lag_seconds' || stream === undefined) continue;
    worst.set(stream, Math.max(worst.get(stream) ?? 0, value));
  }
  return [...worst]
    .map(([stream, seconds]) => ({ stream, seconds }))
    .sort((a, b) => a.stream.localeCompare(b.stream));
}
