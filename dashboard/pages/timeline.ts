import type { Instant } from '../../src/domain/instant.ts';
import { parseRunId } from '../../src/domain/runs.ts';
import type { VerdictName } from '../../src/domain/verdict.ts';
import { time } from '../format.ts';
import type { Html } from '../html.ts';
import { html } from '../html.ts';
import { outcomeOf } from '../outcomes.ts';

export type Tone = 'good' | 'bad' | 'verdict' | 'decision' | 'change' | 'attempt';

export interface TimelineLine {
  readonly at: Instant;
  readonly kind: string;
  readonly text: string;
  readonly triggerId: string | null;
  readonly tone: Tone;
}

/** What happened, the newest first. */
export const timeline = (lines: readonly TimelineLine[]): Html =>
  html`<ol class="timeline">
    ${[...lines].reverse().map(line)}
  </ol>`;

function line({ at, kind, text, triggerId, tone }: TimelineLine): Html {
  const trigger = triggerId !== null && parseRunId(triggerId) !== null ? triggerId : null;
  return html`<li class="kind-${tone}">
    <span class="when"
      >${time(at)} ·
      ${kind}${trigger === null ? null : html` · <a href="/runs/${trigger}">${trigger}</a>`}</span
    >
    <div class="text">${text}</div>
  </li>`;
}

export function decisionTone(verdict: VerdictName): Tone {
  const outcome = outcomeOf(verdict);
  return outcome === 'collected' ? 'good' : outcome === 'trouble' ? 'bad' : 'verdict';
}
