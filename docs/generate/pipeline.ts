import { PAGES_OF_RUN, QUEUE_OF_REQUEST, QUEUE_OF_RUN, QUEUE_OF_STREAM } from '../../queues/jobs.ts';
import { JOB_OPTIONS } from '../../queues/options.ts';
import type { QueueName } from '../../queues/queue-names.ts';
import { QUEUE_NAMES } from '../../queues/queue-names.ts';
import type { QueueSet } from '../../queues/queue-set.ts';
import { upsertSchedules } from '../../queues/schedules.ts';
import { RUN_PROCESSES } from '../../src/domain/runs.ts';
import { cronOf } from '../../src/domain/schedule.ts';
import { code, diagram, tableOf } from './blocks.ts';

type Source = 'scheduler' | 'api' | 'bridges' | 'pages' | 'events';

/** What DynamoDB knows to be waiting: whoever asks for it adds its job, and the scheduler adds it again when it is lost. */
const WAITING: readonly QueueName[] = [
  ...Object.values(QUEUE_OF_REQUEST),
  ...Object.values(QUEUE_OF_STREAM),
  'gateway-events',
];

/** Who adds jobs to which queue. */
async function sourcesOf(): Promise<ReadonlyMap<QueueName, readonly Source[]>> {
  const adds: readonly (readonly [Source, readonly QueueName[]])[] = [
    ['scheduler', [...(await scheduledQueues()), ...WAITING]],
    ['pages', [...Object.values(PAGES_OF_RUN), ...Object.values(QUEUE_OF_RUN)]],
    ['api', [...Object.values(PAGES_OF_RUN), ...WAITING]],
    ['bridges', Object.values(QUEUE_OF_STREAM)],
    ['events', Object.values(QUEUE_OF_STREAM)],
  ];
  return new Map(
    QUEUE_NAMES.map((queue) => {
      const sources = adds.filter(([, queues]) => queues.includes(queue)).map(([source]) => source);
      if (sources.length === 0) throw new Error(`nobody is known to add jobs to ${queue}`);
      return [queue, sources];
    }),
  );
}

/** Taken down from what the scheduler upserts. */
async function scheduledQueues(): Promise<QueueName[]> {
  const scheduled: QueueName[] = [];
  const get = (queue: QueueName) => ({ upsertJobScheduler: async () => scheduled.push(queue) });
  await upsertSchedules({ get } as unknown as QueueSet);
  return scheduled;
}

/** Queues that the same processes fill and the same processor empties are one node: so the picture can be taken in. */
export async function pipelineDiagram(processors: ReadonlyMap<string, string>): Promise<string> {
  const sources = await sourcesOf();
  const likes = (queue: QueueName): string => `${sources.get(queue)?.join()} ${makerOf(processors, queue)}`;
  const firsts = QUEUE_NAMES.filter(
    (queue, n) => QUEUE_NAMES.findIndex((one) => likes(one) === likes(queue)) === n,
  );
  const nodes = firsts.map((first, n) => ({
    id: `queues${n}`,
    queues: QUEUE_NAMES.filter((queue) => likes(queue) === likes(first)),
    from: sources.get(first) ?? [],
    to: makerOf(processors, first),
  }));
  const makers = [...new Set(nodes.map(({ to }) => to))];
  return diagram([
    'flowchart LR',
    '  scheduler([scheduler])',
    '  api([API, console, CLI])',
    '  bridges([bridges])',
    ...nodes.map(({ id, queues }) => `  ${id}[["${queues.join('<br>')}"]]`),
    ...makers.map((maker) => `  ${maker}("worker: ${fileOf(maker)}")`),
    ...nodes.flatMap(({ id, from }) => from.map((source) => `  ${WORKER_OF[source] ?? source} --> ${id}`)),
    ...nodes.map(({ id, to }) => `  ${id} --> ${to}`),
  ]);
}

/** Workers that add jobs themselves: a page those of its records, an event that of its user's next one. */
const WORKER_OF: Partial<Record<Source, string>> = { pages: 'pageProcessor', events: 'eventProcessor' };

const SAID: Readonly<Record<Source, string>> = {
  scheduler: 'scheduler',
  pages: 'the pages of a run',
  api: 'API, console, CLI',
  bridges: 'bridges',
  events: 'the event before',
};

export async function queueTable(processors: ReadonlyMap<string, string>): Promise<string> {
  const sources = await sourcesOf();
  return tableOf(
    ['queue', 'jobs come from', 'done by', 'tries'],
    QUEUE_NAMES.map((queue) => {
      const file = `workers/${fileOf(makerOf(processors, queue))}.ts`;
      return [
        code(queue),
        (sources.get(queue) ?? []).map((source) => SAID[source]).join(', '),
        `[${file}](../${file})`,
        String(JOB_OPTIONS[queue].attempts ?? 1),
      ];
    }),
  );
}

export const runTable = (): string =>
  tableOf(
    ['run', 'starts (UTC)', 'pages', 'records go to'],
    RUN_PROCESSES.map((process) => [
      code(process),
      timeOf(cronOf(process)),
      code(PAGES_OF_RUN[process]),
      code(QUEUE_OF_RUN[process]),
    ]),
  );

/** `30 8 * * 1-5`: Mon–Fri 08:30. */
function timeOf(cron: string): string {
  const [minute = '', hour = '', , , days] = cron.split(' ');
  return `${days === '*' ? 'daily' : 'Mon–Fri'} ${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
}

function makerOf(processors: ReadonlyMap<string, string>, queue: string): string {
  const maker = processors.get(queue);
  if (maker === undefined) throw new Error(`the registry of the workers does not say who serves ${queue}`);
  return maker;
}

/** One processor to a file, and the file is called like it. */
const fileOf = (maker: string): string => maker.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
