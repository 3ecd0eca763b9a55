import { z } from 'zod';
import type { CalendarDate } from '../src/domain/calendar-date.ts';
import { isWeekend } from '../src/domain/calendar-date.ts';
import { formatInstant } from '../src/domain/instant.ts';
import type { RunId } from '../src/domain/runs.ts';
import { runId } from '../src/domain/runs.ts';
import type { InboxEvent } from '../src/ports/inbox.ts';
import type { Message } from '../src/ports/publisher.ts';
import type { Run } from '../src/ports/runs.ts';
import type { Moment } from './days.ts';
import { momentsOf } from './days.ts';
import type { Happening } from './happenings.ts';
import { bankUserOf, planOf } from './members.ts';
import type { Stage } from './stage.ts';
import { until } from './until.ts';

type EventIdentity = Pick<InboxEvent, 'stream' | 'identity'>;

const published = z.object({ callback_type: z.string(), confirmation_id: z.string() });

/** Lets days pass. A moment is over when everything that it set going has come to its end. */
export class Life {
  private readonly stage: Stage;
  private readonly signal: AbortSignal;
  /** Up to where the bank's ledger was looked through for callbacks. */
  private heard = 0;

  constructor(stage: Stage, signal: AbortSignal) {
    this.stage = stage;
    this.signal = signal;
  }

  /** The day's runs, each at its time, then what members do in the evening. Gives the runs with their reports. */
  async day(date: CalendarDate, happenings: readonly Happening[]): Promise<Run[]> {
    const runs: Run[] = [];
    for (const moment of momentsOf(date)) runs.push(...(await this.moment(moment)));
    if (happenings.length > 0) await this.evening(happenings);
    if (!isWeekend(date)) await this.janitor(date);
    return runs;
  }

  /** Turning the clock wakes the scheduler; the bank's word about older entries comes meanwhile. */
  private async moment({ at, processes }: Moment): Promise<Run[]> {
    await this.stage.bank.setTime(at);
    const [runs] = await Promise.all([
      Promise.all(processes.map((process) => this.over(runId(process, at)))),
      this.callbacks(),
    ]);
    return runs;
  }

  /** In life it looks every minute, by the machine's clock; here a day is over in less than that. */
  private async janitor(date: CalendarDate): Promise<void> {
    const queue = this.stage.queues.get('janitor');
    const jobId = `year-${date}`;
    await queue.add('round', {}, { jobId });
    await until(this.stage.timer, this.signal, `the janitor has looked on ${date}`, async () => {
      const state = await queue.getJobState(jobId);
      if (state === 'failed') throw new Error(`the janitor failed on ${date}`);
      return state === 'completed' ? true : null;
    });
  }

  private over(id: RunId): Promise<Run> {
    const { stores, timer, runEnds } = this.stage;
    return until(timer, this.signal, `run ${id} is over`, async () => {
      await runEnds.heard(id);
      const run = await stores.runs.get(id);
      return run === null || run.status === 'running' ? null : run;
    });
  }

  /** Everything that the bank has published since the last look is dealt with. */
  private async callbacks(): Promise<void> {
    const filter = { type: 'callback.published' };
    const { entries, last } = await this.stage.ledger.read(filter, published, this.heard);
    this.heard = last;
    await this.dealtWith(
      entries.map(({ callback_type: type, confirmation_id: id }) => ({
        stream: 'payments',
        identity: `${id}#${type}`,
      })),
    );
  }

  private async dealtWith(events: readonly EventIdentity[]): Promise<void> {
    const { stores, timer } = this.stage;
    for (const event of events) {
      const { reason } = await until(timer, this.signal, `event ${event.identity} is applied`, () =>
        stores.inbox.wasApplied(event),
      );
      if (reason === 'in-quarantine') throw new Error(`event ${event.identity} is in quarantine`);
    }
  }

  private async evening(happenings: readonly Happening[]): Promise<void> {
    const messages: Message[] = [];
    const events: EventIdentity[] = [];
    for (const happening of happenings) {
      if (happening.what === 'event') {
        const id = `${happening.userId}.${happening.on}.${happening.type}`;
        messages.push({ key: happening.userId, text: this.eventText(id, happening) });
        events.push({ stream: 'users', identity: id });
      } else await this.perform(happening);
    }
    await this.stage.users.publish(messages);
    await this.dealtWith(events);
    await this.callbacks();
  }

  private eventText(id: string, { type, userId, pauseMonths }: Happening & { what: 'event' }): string {
    return JSON.stringify({
      id,
      type,
      source: 'UserService',
      time: formatInstant(this.stage.clock.now()),
      data: {
        user_id: userId,
        status: 'ACTIVE',
        ...(pauseMonths === null ? {} : { pause_duration_months: pauseMonths }),
      },
    });
  }

  private async perform(happening: Exclude<Happening, { what: 'event' }>): Promise<void> {
    const { bank, api, clock } = this.stage;
    switch (happening.what) {
      case 'bank':
        return bank.putUsers([happening.script]);
      case 'joins':
        await bank.putUsers([bankUserOf(happening.index)]);
        return api.join(happening.userId, planOf(happening.index));
      case 'upgrade':
        return api.upgrade(happening.userId, clock.now());
      case 'float':
        return api.advance(happening.userId, { amount: happening.amount, due_date: happening.dueDate });
    }
  }
}
