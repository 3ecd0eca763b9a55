import type { Terminal } from '../src/cli/terminal.ts';
import { formatInstant } from '../src/domain/instant.ts';
import { ApiDesk } from './api-desk.ts';
import type { ChaosOptions } from './arguments.ts';
import { Book } from './book.ts';
import { Chance } from './chance.ts';
import type { Ending } from './ending.ts';
import { Interruption } from './ending.ts';
import type { Ground } from './ground.ts';
import { prepareGround } from './ground.ts';
import type { Fault } from './plan.ts';
import { describe, drawPlan } from './plan.ts';
import { quiet } from './quiet.ts';
import type { OwnEnd, Report } from './report.ts';
import { isClean } from './report.ts';
import { storm } from './storm.ts';
import { Traffic } from './traffic.ts';
import { reachVerdict } from './verdict.ts';

export interface ChaosTools {
  readonly out: Terminal;
  /** With the time in front. */
  readonly stamped: (text: string) => string;
  readonly ending: Ending;
  /** Aborted when the operator presses Ctrl-C, when the time is up, and when it cannot go on. */
  readonly stopped: AbortController;
}

/** The storm, the quiet after it, and what is left of everything then. */
export async function runChaos(options: ChaosOptions, tools: ChaosTools): Promise<Report> {
  const { out, stamped, ending, stopped } = tools;
  out.line(stamped('starting Redis, DynamoDB, Kinesis, the bank and every role'));
  const ground = await prepareGround(ending);
  void ground.stack.died.then(({ program, cause }) =>
    stopped.abort(new Error(`${program} ended by itself: ${cause}`)),
  );
  try {
    const report = await Promise.race([
      stormAndQuiet(ground, options, tools),
      failedWhenAborted(stopped.signal),
    ]);
    if (!isClean(report)) ground.keepData();
    return report;
  } catch (error) {
    if (stopped.signal.reason instanceof Interruption) throw error;
    ground.keepData();
    const { message } = error as Error;
    throw new Error(`${message}; tables, ledger and logs are kept in ${ground.dataDir}`, { cause: error });
  }
}

/** Whatever is waited for, it ends with the process. */
const failedWhenAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

async function stormAndQuiet(
  ground: Ground,
  options: ChaosOptions,
  { out, stamped }: ChaosTools,
): Promise<Report> {
  const { seed, users, faults } = options;
  const desk = new ApiDesk(ground);
  const book = new Book();
  // Another seed than the plan's: what callers ask for has nothing to do with what strikes when.
  const traffic = new Traffic(ground, { desk, book, chance: new Chance(seed + 1) });
  const struck: Fault[] = [];
  const progress = out.counter('faults');
  const ownEnds: OwnEnd[] = [];
  let inQuiet = false;
  ground.crew.onOwnEnd((name, how) => {
    ownEnds.push({ name, how, inQuiet });
    progress.note(stamped(`${name} ended by itself: ${how}`));
  });
  await storm(ground, {
    plan: drawPlan(seed, faults),
    users,
    traffic,
    onDay: (morning, joined) => progress.note(stamped(`${formatInstant(morning)}, ${joined} members join`)),
    onFault: (fault) => {
      struck.push(fault);
      progress.note(stamped(describe(fault)));
      progress.update(struck.length, faults);
    },
  });
  progress.finish();
  const say = (text: string): void => out.line(stamped(text));
  say('no more faults: quiet, until nothing is open');
  const stillOpen = await quiet(ground, {
    book,
    onBegin: () => (inQuiet = true),
    onDay: (evening) => say(formatInstant(evening)),
    onWait: (open) => say(`  waiting for ${open.join(', ')}`),
  });
  const verdict = await reachVerdict(ground, { desk, book, out });
  return { struck, ownEnds, stillOpen, verdict, dataDir: ground.dataDir };
}
