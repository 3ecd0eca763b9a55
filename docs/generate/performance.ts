import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ASSUMED, assumed } from '../../bench/assumptions.ts';
import type { Figure, Measured } from '../../bench/figures.ts';
import { FIGURES, aimText, commandOf, outcomeOf } from '../../bench/figures.ts';
import type { Crew, Inputs } from '../../bench/growth-model.ts';
import { busiestRun, inputsOf, month, pace, runHours } from '../../bench/growth-model.ts';
import type { MachineFacts } from '../../bench/machine.ts';
import { machineText } from '../../bench/machine.ts';
import type { RoomShares } from '../../bench/profile.ts';
import type { StepTime } from '../../bench/steps.ts';
import type { WriteUnits } from '../../bench/write-units.ts';
import type { Blocks } from './blocks.ts';
import { code, diagram, tableOf } from './blocks.ts';

/** The last line of `npm run bench -- --json`, as it is committed. */
type Committed = Measured & {
  readonly measured_at: string;
  readonly command: string;
  readonly machine: MachineFacts;
  readonly steps?: readonly StepTime[];
  readonly write_units?: readonly WriteUnits[];
  /** Put there by hand, where something is to be said of this run; it goes when the next one takes its place. */
  readonly note?: string;
  readonly profile?: Readonly<Record<string, RoomShares>>;
};

/** A whole run of the bench, and one of its first part under the profiler, whose figures count for nothing. */
export function performanceBlocks(root: string): Blocks {
  const figures = committed(root, 'figures.json');
  const profile = committed(root, 'profile.json');
  const inputs = inputsOf(figures);
  return {
    'what was measured': measuredText(figures),
    figures: figureTable(figures),
    steps: stepTable(figures),
    'what was profiled': profiledText(profile, figures),
    profile: profileTable(profile),
    assumptions: assumptionTable(),
    'the busiest run': busiestRunTable(inputs),
    'its writes': writesTable(inputs),
    'duration of a run': durationTable(inputs),
    'duration as a picture': durationChart(inputs),
    'a month': monthTable(inputs),
  };
}

const committed = (root: string, file: string): Committed =>
  JSON.parse(readFileSync(join(root, 'docs/measured', file), 'utf8')) as Committed;

function measuredText({ command, measured_at: at, machine, note }: Committed): string {
  const text = `${code(command)}, ${at}. ${machineText(machine).split('\n').join('; ')}.`;
  return note === undefined ? text : `${text} ${note}`;
}

/** Whoever reads the two together is told when the code may have changed between them. */
function profiledText(profile: Committed, { measured_at: figuresAt }: Committed): string {
  const text = measuredText(profile);
  return profile.measured_at < figuresAt
    ? `${text} Older than the figures above (${figuresAt}): it shows the code of its own day.`
    : text;
}

function figureTable(measured: Committed): string {
  const rows = FIGURES.flatMap((figure) => {
    const value = measured[figure.name];
    if (value === undefined) throw new Error(`${figure.name} was not measured`);
    return [
      [
        code(figure.name),
        valueText(figure, value),
        aimText(figure),
        figure.what,
        code(commandOf(figure.part)),
      ],
    ];
  });
  return tableOf(['figure', 'value', 'aim', 'what it is', 'command for its part alone'], rows);
}

const valueText = (figure: Figure, value: number): string =>
  outcomeOf(figure, value) === 'miss' ? `**${number(value)}**, a miss` : number(value);

function stepTable({ steps }: Committed): string {
  if (steps === undefined) throw new Error('the steps were not measured');
  const allMs = steps.reduce((sum, { ms }) => sum + ms, 0);
  const rows = steps.map(({ step, ms }) => [step, ms.toFixed(1)]);
  return tableOf(['step', 'ms'], [...rows, ['all', allMs.toFixed(1)]]);
}

/** Worker and floor beside each other: every room in which either spends time, so that both columns add up. */
function profileTable({ profile = {} }: Committed): string {
  const { 'collections.workers': worker, 'collections.floor': floor } = profile;
  if (worker === undefined || floor === undefined)
    throw new Error('there is no profile of the worker and the floor');
  const share = ({ busy_percent: busy }: RoomShares, room: string): string =>
    busy[room] === undefined ? '–' : `${busy[room].toFixed(1)} %`;
  const largest = (room: string): number =>
    Math.max(worker.busy_percent[room] ?? 0, floor.busy_percent[room] ?? 0);
  const all = new Set([...Object.keys(worker.busy_percent), ...Object.keys(floor.busy_percent)]);
  const rooms = [...all].filter((room) => largest(room) >= 0.1);
  return tableOf(
    ['of its busy time', 'worker', 'floor'],
    [
      ...rooms.map((room) => [room, share(worker, room), share(floor, room)]),
      ['idle, of the whole time', `${worker.idle_percent} %`, `${floor.idle_percent} %`],
    ],
  );
}

const assumptionTable = (): string =>
  tableOf(
    ['assumption', 'value', 'why'],
    Object.entries(ASSUMED).map(([name, { value, unit, why }]) => [
      code(name),
      `${number(value)} ${unit}`,
      why,
    ]),
  );

const MEMBERS = [10_000, 100_000, 1_000_000, 10_000_000] as const;

function busiestRunTable(inputs: Inputs): string {
  const runs = MEMBERS.map((members) => busiestRun(members, inputs, assumed));
  return byMembers([
    ['records due', runs.map(({ due }) => rough(due))],
    ['items read from the index', runs.map(({ indexReads }) => rough(indexReads))],
    ['read units, collections included', runs.map(({ readUnits }) => rough(readUnits))],
    ['until all is handed over, minutes', runs.map(({ enqueueMinutes }) => rough(enqueueMinutes))],
    ['Redis, when all of it waits, GB', runs.map(({ redisGb }) => rough(redisGb))],
    ['write units per second, in all', runs.map(({ writeUnitsPerS }) => rough(writeUnitsPerS))],
    [
      'of them on the busiest key of an index',
      runs.map(({ busiestKeyUnitsPerS }) => rough(busiestKeyUnitsPerS)),
    ],
  ]);
}

/** Whoever provisions has to know each table and each index. */
function writesTable(inputs: Inputs): string {
  const runs = MEMBERS.map((members) => busiestRun(members, inputs, assumed));
  const rows = inputs.write_units.map(({ table, index, units }, place) => [
    index === undefined ? `**${table}**` : code(index),
    number(units),
    ...runs.map(({ writeUnitsPerSByPlace }) => rough(writeUnitsPerSByPlace[place]?.units ?? 0)),
  ]);
  return tableOf(
    [
      '**table**, and its indexes',
      'of one collection',
      ...MEMBERS.map((members) => `${number(members)} members`),
    ],
    rows,
  );
}

function monthTable(inputs: Inputs): string {
  const months = MEMBERS.map((members) => month(members, inputs, assumed));
  const dollars = (value: number): string => `$${rough(value)}`;
  return byMembers([
    ['collections', months.map(({ collections }) => rough(collections))],
    ['stored for good, GB a year', months.map(({ gbPerYear }) => rough(gbPerYear))],
    ['writes', months.map(({ writeDollars }) => dollars(writeDollars))],
    ['reads', months.map(({ readDollars }) => dollars(readDollars))],
    ['storage after a year', months.map(({ storageDollars }) => dollars(storageDollars))],
    ['**DynamoDB a month**', months.map((one) => `**${dollars(one.dollars)}**`)],
  ]);
}

const byMembers = (rows: readonly (readonly [string, readonly string[]])[]): string =>
  tableOf(
    ['members', ...MEMBERS.map(number)],
    rows.map(([name, cells]) => [name, ...cells]),
  );

const CREWS: readonly Crew[] = [
  { workers: 1, concurrency: 50, processorPerS: null },
  { workers: 2, concurrency: 50, processorPerS: null },
  { workers: 4, concurrency: 50, processorPerS: null },
  { workers: 4, concurrency: 100, processorPerS: null },
  { workers: 8, concurrency: 200, processorPerS: null },
  { workers: 16, concurrency: 400, processorPerS: null },
  { workers: 16, concurrency: 400, processorPerS: 100 },
];

function durationTable(inputs: Inputs): string {
  const hours = (members: number, crew: Crew): string =>
    rough(runHours(busiestRun(members, inputs, assumed).due, pace(crew, inputs, assumed)));
  return tableOf(
    [
      'worker processes',
      '`COLLECTION_CONCURRENCY`',
      '`PROCESSOR_RATE_PER_S`',
      'per second',
      'bound by',
      'h for 1,000,000',
      'h for 10,000,000',
    ],
    CREWS.map((crew) => {
      const { perS, boundBy } = pace(crew, inputs, assumed);
      return [
        String(crew.workers),
        String(crew.concurrency),
        crew.processorPerS === null ? 'off' : String(crew.processorPerS),
        rough(perS),
        boundBy,
        hours(1_000_000, crew),
        hours(10_000_000, crew),
      ];
    }),
  );
}

/** Of the crews that no rate holds back, for the largest house. */
function durationChart(inputs: Inputs): string {
  const crews = CREWS.filter(({ processorPerS }) => processorPerS === null);
  const { due } = busiestRun(MEMBERS[3], inputs, assumed);
  const hours = crews.map((crew) => runHours(due, pace(crew, inputs, assumed)));
  return diagram([
    'xychart-beta',
    '  title "Monday’s run of 10,000,000 members, by worker processes × collections at once"',
    `  x-axis [${crews.map(({ workers, concurrency }) => `"${workers} × ${concurrency}"`).join(', ')}]`,
    `  y-axis "hours" 0 --> ${Math.ceil(Math.max(...hours))}`,
    `  bar [${hours.map((value) => value.toFixed(1)).join(', ')}]`,
  ]);
}

const number = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 4 });

/** Two digits: more would pretend that the assumptions are known better than that. */
const rough = (value: number): string => number(Number(value.toPrecision(2)));
