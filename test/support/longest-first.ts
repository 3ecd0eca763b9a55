import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** Those that take longest or mostly wait, the longest first. Begun late, each would keep everybody waiting at the end. */
const LONG = [
  'test/integration/newcomer.test.ts',
  'test/integration/start.test.ts',
  'test/integration/pipeline/streams-to-records.test.ts',
  'test/integration/api/memberships-money.test.ts',
  'test/chaos/chaos.test.ts',
  'test/integration/year.test.ts',
  'test/sim/seeds.test.ts',
  'test/integration/collect/forecast-run.test.ts',
  'test/integration/api/pay.test.ts',
  'test/integration/pipeline/killed-workers.test.ts',
  'test/integration/pipeline/scheduled-run.test.ts',
  'test/integration/payments/apply-payment-event.test.ts',
  'test/integration/pipeline/recurring-run.test.ts',
  'test/integration/cli/run.test.ts',
  'test/bench/bench.test.ts',
  'test/integration/api/every-answer.test.ts',
  'test/integration/pipeline/float-run.test.ts',
  'test/integration/api/memberships.test.ts',
  'test/integration/memberships/apply-membership.test.ts',
  'test/integration/pipeline/sleeping-workers.test.ts',
  'test/integration/pipeline/lost-and-found.test.ts',
  'test/integration/memberships/random-histories.test.ts',
  'test/integration/collect/collect-subscription.test.ts',
  'test/browser/console.test.ts',
  'test/embedded/parent-gone.test.ts',
];

/** On a fresh checkout vitest knows no durations and goes by the size of the files, which says little here. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((one, other) => turn(one) - turn(other));
  }
}

function turn({ moduleId }: TestSpecification): number {
  const place = LONG.findIndex((file) => moduleId.endsWith(file));
  return place === -1 ? LONG.length : place;
}
