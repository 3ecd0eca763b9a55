import type { CalendarDate } from '../src/domain/calendar-date.ts';
import { count, day, dollars } from './format.ts';
import type { Html } from './html.ts';
import { html } from './html.ts';
import type { Outcome, OutcomeSums } from './outcomes.ts';
import { OUTCOME_LABELS } from './outcomes.ts';
import type { StackedBars } from './stacked-bars.ts';
import { stackedBars } from './stacked-bars.ts';

export interface DayOutcomes {
  readonly date: CalendarDate;
  readonly sums: OutcomeSums;
}

/** From the bottom up. What was left for later would hide the rest. */
export const PLOTTED: readonly Outcome[] = ['collected', 'sent', 'unpaid', 'closed', 'trouble'];

export const outcomePlot = (days: readonly DayOutcomes[]): Html =>
  drawnOutcomes(days, { id: 'plot', barWidth: 12, gap: 3 });

/** For telephones: as many days, and letters that can be read, with nothing to scroll the axis out of sight. */
export const narrowOutcomePlot = (days: readonly DayOutcomes[]): Html =>
  drawnOutcomes(days, { id: 'plot-narrow', barWidth: 4, gap: 1 });

const drawnOutcomes = (
  days: readonly DayOutcomes[],
  measures: Pick<StackedBars, 'id' | 'barWidth' | 'gap'>,
): Html =>
  stackedBars({
    ...measures,
    title: `Records by outcome and day, the last ${days.length} days; the table below has the figures`,
    bars: days.map(({ date, sums }, index) => ({
      label: index % 10 === 9 || index === days.length - 1 ? day(date).slice(0, -5) : null,
      text: `${day(date)}: ${PLOTTED.map((name) => `${OUTCOME_LABELS[name].toLowerCase()} ${count(sums[name].count)}`).join(', ')}; ${dollars(sums.collected.amount)} collected`,
      layers: PLOTTED.map((tone) => ({ tone, value: sums[tone].count })),
    })),
  });

/** From this part of a limit on somebody should look, as the alert on return rates in the runbook has it. */
const NEAR = 0.8;

export type Level = 'calm' | 'near' | 'over';

export function levelOf(share: number | null, limit: number): Level {
  if (share === null || share <= NEAR * limit) return 'calm';
  return share > limit ? 'over' : 'near';
}

const LEVEL_CLASSES: Record<Level, string> = { calm: 'under', near: 'near', over: 'over' };

/** A share beside the limit that it must stay under. The scale ends at twice the limit. */
export function meter(share: number | null, limit: number, label: string): Html {
  const width = share === null ? 0 : Math.min(100, (share / (2 * limit)) * 100);
  return html`<svg
    class="meter"
    viewBox="0 0 100 8"
    preserveAspectRatio="none"
    role="img"
    aria-label="${label}"
  >
    <rect class="track" x="0" y="0" width="100" height="8" />
    <rect
      class="${LEVEL_CLASSES[levelOf(share, limit)]}"
      x="0"
      y="0"
      width="${width.toFixed(2)}"
      height="8"
    />
    <line class="limit" x1="50" x2="50" y1="0" y2="8" />
  </svg>`;
}

/** A share of the longest. Its figures stand beside it, so a screen reader skips the bar. */
export const bar = (share: number, outcome: Outcome): Html =>
  html`<svg class="meter" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
    <rect class="track" x="0" y="0" width="100" height="8" />
    <rect class="fill-${outcome}" x="0" y="0" width="${(share * 100).toFixed(2)}" height="8" />
  </svg>`;
