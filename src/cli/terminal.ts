import { styleText } from 'node:util';
import { SingleBar } from 'cli-progress';
import Table from 'cli-table3';

/** What people read. Figures for machines go to standard output, so everything here can be sent to standard error. */
export interface Terminal {
  line(text?: string): void;
  table(head: readonly string[], rows: readonly (readonly string[])[]): void;
  /** A bar on a terminal; elsewhere (a pipe, a log) a plain line now and then. */
  progress(what: string, total: number): Progress;
}

export interface Progress {
  update(done: number): void;
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
  };
}

function bar(what: string, total: number, out: NodeJS.WriteStream): Progress {
  const shown = new SingleBar({
    format: `${what} {bar} {percentage}% · {value}/{total} · {eta_formatted} left`,
    stream: out,
    hideCursor: true,
    clearOnComplete: false,
  });
  shown.start(total, 0);
  return { update: (done) => shown.update(done), finish: () => shown.stop() };
}

/** A line for each tenth is enough for a log. */
function lines(what: string, total: number, line: (text: string) => void): Progress {
  let tenths = 0;
  return {
    update(done) {
      const reached = Math.floor((done * 10) / Math.max(1, total));
      if (reached <= tenths) return;
      tenths = reached;
      line(`${what}: ${done} of ${total}`);
    },
    finish: () => undefined,
  };
}
