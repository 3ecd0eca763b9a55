import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { terminal } from '../../../src/cli/terminal.ts';

const MINUTE_MS = 60_000;

describe('progress where there is no terminal', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function aLog(): { readonly out: ReturnType<typeof terminal>; readonly lines: () => readonly string[] } {
    const written: string[] = [];
    const stream = new Writable({
      write(chunk, _, done) {
        written.push(String(chunk));
        done();
      },
    });
    return {
      out: terminal(stream as unknown as NodeJS.WriteStream),
      lines: () => written.join('').split('\n').slice(0, -1),
    };
  }

  it('is a line for each tenth, however many steps it has', () => {
    const { out, lines } = aLog();
    const progress = out.progress('members', 1_000);
    for (let done = 1; done <= 1_000; done += 1) progress.update(done);
    expect(lines()).toEqual(
      Array.from({ length: 10 }, (_, tenth) => `members: ${(tenth + 1) * 100} of 1000`),
    );
  });

  it('is a line a minute where a tenth takes longer', () => {
    const { out, lines } = aLog();
    const progress = out.progress('worlds', 1_000);
    for (let done = 1; done <= 8; done += 1) {
      vi.advanceTimersByTime(MINUTE_MS / 4);
      progress.update(done, done === 8 ? 'wrong: 7' : undefined);
    }
    expect(lines()).toEqual(['worlds: 4 of 1000', 'worlds: 8 of 1000 · wrong: 7']);
  });
});
