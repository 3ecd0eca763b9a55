import { beforeEach, describe, expect, it } from 'vitest';
import { randomOf } from '../../../sim/random.ts';
import type { StoredJob } from '../../../sim/world/broker.ts';
import { Broker } from '../../../sim/world/broker.ts';
import { nextCronMs } from '../../../sim/world/cron.ts';
import { SimProcess } from '../../../sim/world/sim-process.ts';
import { Timeline } from '../../../sim/world/timeline.ts';

let timeline: Timeline;
let broker: Broker;
let worker: SimProcess;

beforeEach(() => {
  timeline = new Timeline(0);
  broker = new Broker(timeline, randomOf(1, 'broker'), {
    stallMs: 1_000,
    trace: () => undefined,
    onStalled: () => undefined,
  });
  worker = new SimProcess('worker', timeline);
});

const add = (id: string): void => broker.add('q', { id, name: 'n', data: { id }, tries: 3 });
const take = (): { job: StoredJob; token: string } => broker.take('q', worker)!;
const statusOf = (id: string): string | undefined => broker.find('q', id)?.status;
const backoff = { reason: 'no', unrecoverable: false, backoffMs: 500 };

async function pass(ms: number): Promise<void> {
  const untilMs = timeline.nowMs + ms;
  while ((timeline.nextMs() ?? Infinity) <= untilMs) await timeline.step();
  await timeline.leap(untilMs);
}

describe('the simulated broker, as BullMQ does', () => {
  it('keeps an id taken while its job is stored in any state', () => {
    add('a');
    const { job, token } = take();
    broker.complete(job, token);
    add('a');
    expect(broker.take('q', worker)).toBeNull();
    broker.remove(job);
    add('a');
    expect(broker.take('q', worker)?.job.id).toBe('a');
  });

  it('tries again after a pause, and keeps what has failed for good', async () => {
    add('a');
    for (let tries = 1; tries <= 3; tries += 1) {
      const { job, token } = take();
      expect(job.attemptsStarted).toBe(tries);
      broker.fail(job, token, backoff);
      await pass(500);
    }
    expect(statusOf('a')).toBe('failed');
    broker.retry(broker.find('q', 'a')!);
    expect(statusOf('a')).toBe('waiting');
  });

  it('gives a silent worker’s job to another, and refuses the first when it comes back', async () => {
    add('a');
    const { job, token } = take();
    worker.sleepUntil(10_000);
    broker.noticeSilence(worker, 10_000);
    await pass(2_000);
    const other = new SimProcess('other', timeline);
    expect(broker.take('q', other)?.job.id).toBe('a');
    expect(() => broker.complete(job, token)).toThrow(/Missing lock/);
  });

  it('does not mind a silence that is shorter', async () => {
    add('a');
    const { job, token } = take();
    broker.noticeSilence(worker, 900);
    await pass(5_000);
    broker.complete(job, token);
    expect(statusOf('a')).toBe('completed');
  });

  it('forgets everything when it is flushed, also what somebody works on', () => {
    add('a');
    const { job, token } = take();
    broker.flush();
    expect(() => broker.moveToDelayed(job, token, 10)).toThrow(/Missing key/);
    expect(statusOf('a')).toBeUndefined();
  });

  it('holds a limited queue, and lets no more be active than it may', async () => {
    for (const id of ['a', 'b', 'c']) add(id);
    broker.limitActive('q', 2);
    const { job, token } = take();
    take();
    expect(broker.take('q', worker)).toBeNull();
    broker.complete(job, token);
    broker.limit('q', 300);
    expect(broker.take('q', worker)).toBeNull();
    await pass(300);
    expect(broker.take('q', worker)?.job.id).toBe('c');
  });

  it('says that it is idle only when nothing is to be done soon', async () => {
    expect(broker.isIdleUntil(1_000)).toBe(true);
    add('a');
    expect(broker.isIdleUntil(0)).toBe(false);
    const { job, token } = take();
    broker.moveToDelayed(job, token, 5_000);
    expect(broker.isIdleUntil(5_000)).toBe(true);
    expect(broker.isIdleUntil(5_001)).toBe(false);
    await pass(5_000);
    expect(statusOf('a')).toBe('waiting');
  });

  it('ticks, and catches nothing up', async () => {
    broker.schedule('tick', 'q', '* * * * *', { name: 'tick', data: {}, tries: 1 });
    broker.schedule('tick', 'q', '* * * * *', { name: 'tick', data: {}, tries: 1 });
    await pass(60_000);
    await timeline.leap(10 * 60_000 + 5_000);
    await pass(0);
    const taken = [broker.take('q', worker), broker.take('q', worker), broker.take('q', worker)];
    expect(taken.map((one) => one?.job.id)).toEqual(['repeat:tick:60000', 'repeat:tick:120000', undefined]);
    expect(timeline.nextMs()).toBe(11 * 60_000);
  });
});

describe('a cron pattern', () => {
  const next = (pattern: string, after: string): string =>
    new Date(nextCronMs(pattern, Date.parse(after))).toISOString();

  it.each([
    ['0 8 * * 1-5', '2026-11-13T07:59:59Z', '2026-11-13T08:00:00.000Z'],
    ['0 8 * * 1-5', '2026-11-13T08:00:00Z', '2026-11-16T08:00:00.000Z'],
    ['30 9 * * *', '2026-11-14T10:00:00Z', '2026-11-15T09:30:00.000Z'],
    ['* * * * *', '2026-11-14T10:00:30Z', '2026-11-14T10:01:00.000Z'],
  ])('%s after %s comes at %s', (pattern, after, at) => {
    expect(next(pattern, after)).toBe(at);
  });

  it('that is not known here is refused', () => {
    expect(() => nextCronMs('0 8 1 * *', 0)).toThrow(/not known/);
    expect(() => nextCronMs('*/5 8 * * *', 0)).toThrow(/not known/);
  });
});
