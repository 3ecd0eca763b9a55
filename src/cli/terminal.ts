import { styleText } from 'node:util';
import { SingleBar } from 'cli-progress';
import Table from 'cli-table3';

/** What people read. Figures for machines go to standard output, so everything here can be sent to standard error. */
export interface Terminal {
  line(text?: string): void;
  table(head: readonly string[], rows: readonly (readonly string[])[]): void;
  /** A bar on a terminal; elsewhere (a pipe, a log) a plain line now and then. */
  progress(what: string, total: number): Progress;
  /** The same where it becomes known on the way how many there are. */
  counter(what: string): Counter;
}

export interface Progress {
  /** `note`: what else is known by now. */
  update(done: number, note?: string): void;
  finish(): void;
}

export interface Counter {
  update(done: number, total: number): void;
  /** A line in between. */
  note(text: string): void;
  finish(): void;
}

type Colour = 'green' | 'yellow' | 'red' | 'dim' | 'bold';

export const colour = (name: Colour, text: string): string =>
  process.stdout.isTTY && process.env['NO_COLOR'] === undefined ? styleText(name, text) : text;

export function terminal(out: NodeJS.WriteStream = process.stdout): Terminal {
  const line = (text = ''): void => {
    out.write(`${text}\n`);
  };
  return {
    line,
    table(head, rows) {
      const table = new Table({ head: [...head], style: { head: [], border: [] } });
      table.push(...rows.map((row) => [...row]));
      line(table.toString());
    },
    progress: (what, total) => (out.isTTY ? bar(what, total, out) : lines(what, total, line)),
    counter: (what) => (out.isTTY ? growingBar(what, out, line) : timedLines(what, line)),
  };
}

function bar(what: string, total: number, out: NodeJS.WriteStream): Progress {
  const shown = singleBar(`${what} {bar} {percentage}% · {value}/{total} · {eta_formatted} left{note}`, out);
  shown.start(total, 0, { note: '' });
  return {
    update: (done, note) => shown.update(done, { note: noted(note) }),
    finish: () => shown.stop(),
  };
}

const noted = (note: string | undefined): string => (note === undefined ? '' : ` · ${note}`);

/** How much time is left cannot be told while the end is not known. */
function growingBar(what: string, out: NodeJS.WriteStream, line: (text: string) => void): Counter {
  const shown = singleBar(`${what} {bar} {value} of {total} so far`, out);
  let now = { done: 0, total: 0 };
  shown.start(now.total, now.done);
  return {
    update(done, total) {
      now = { done, total };
      shown.setTotal(total);
      shown.update(done);
    },
    note(text) {
      shown.stop();
      line(text);
      shown.start(now.total, now.done);
    },
    finish: () => shown.stop(),
  };
}

const singleBar = (format: string, stream: NodeJS.WriteStream): SingleBar =>
  new SingleBar({ format, stream, hideCursor: true, clearOnComplete: false, emptyOnZero: true });

const LONGEST_SILENCE_MS = 60_000;

/** A line for each tenth is enough for a log; where a tenth takes long, one a minute tells that it goes on. */
function lines(what: string, total: number, line: (text: string) => void): Progress {
  let last = { tenths: 0, atMs: performance.now() };
  return {
    update(done, note) {
      const tenths = Math.floor((done * 10) / Math.max(1, total));
      const atMs = performance.now();
      if (tenths <= last.tenths && atMs - last.atMs < LONGEST_SILENCE_MS) return;
      last = { tenths, atMs };
      line(`${what}: ${done} of ${total}${noted(note)}`);
    },
    finish: () => undefined,
  };
}

const BETWEEN_LINES_MS = 5_000;

/** Without a known end there are no tenths: a line every few seconds in which something happened. */
function timedLines(what: string, line: (text: string) => void): Counter {
  let last = { done: 0, atMs: performance.now() };
  return {
    update(done, total) {
      const atMs = performance.now();
      if (done === last.done || atMs - last.atMs < BETWEEN_LINES_MS) return;
      last = { done, atMs };
      line(`${what}: ${done} of ${total} so far`);
    },
    note: line,
    finish: () => undefined,
  };
}
