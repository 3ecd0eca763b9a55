import type { Response } from 'express';
import type { Timer } from '../src/ports/timer.ts';

/** Parts of a page by the name that the page gives them, as HTML. */
export type Fragments = Readonly<Record<string, string>>;

export interface LiveOptions {
  readonly timer: Timer;
  /** Renders what belongs to a topic. Asked once for all who listen to it. */
  readonly render: (topic: string) => Promise<Fragments>;
  readonly onFailure: (error: unknown) => void;
}

interface Listener {
  readonly response: Response;
  readonly topics: readonly string[];
  readonly sent: Map<string, string>;
}

const BETWEEN_LOOKS_MS = 2_000;
const MOST_LISTENERS = 200;
export const MOST_TOPICS = 4;
/** A browser that reads more slowly than this is let go; it comes again. */
const MOST_UNREAD_BYTES = 1_000_000;

/** Tells pages what has changed. Looks only while a page listens, once for all of them. */
export class LiveHub {
  private readonly options: LiveOptions;
  private readonly listeners = new Set<Listener>();
  private readonly closing = new AbortController();
  private looking = false;

  constructor(options: LiveOptions) {
    this.options = options;
  }

  /** False: too many listen already. */
  listen(response: Response, topics: readonly string[], expiresInMs: number): boolean {
    if (this.listeners.size >= MOST_LISTENERS) return false;
    const listener = { response, topics: topics.slice(0, MOST_TOPICS), sent: new Map<string, string>() };
    this.listeners.add(listener);
    const expiry = setTimeout(() => this.letGo(listener), expiresInMs);
    response.on('close', () => {
      clearTimeout(expiry);
      this.listeners.delete(listener);
    });
    // An unhandled error would end the process, for all who listen.
    response.on('error', this.options.onFailure);
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      // Proxies that buffer would keep what is meant for now.
      'x-accel-buffering': 'no',
    });
    response.write('retry: 3000\n\n');
    if (!this.looking) void this.lookAround();
    return true;
  }

  close(): void {
    this.closing.abort();
    for (const listener of this.listeners) this.letGo(listener);
  }

  private async lookAround(): Promise<void> {
    this.looking = true;
    const { timer } = this.options;
    while (this.listeners.size > 0 && !this.closing.signal.aborted) {
      await this.tellAll();
      await timer.sleep(BETWEEN_LOOKS_MS, this.closing.signal).catch(() => undefined);
    }
    this.looking = false;
  }

  private async tellAll(): Promise<void> {
    const { render, onFailure } = this.options;
    const topics = new Set([...this.listeners].flatMap((listener) => listener.topics));
    const rendered = new Map<string, Fragments>();
    for (const topic of topics) {
      try {
        rendered.set(topic, await render(topic));
      } catch (error) {
        onFailure(error);
      }
    }
    for (const listener of this.listeners) {
      if (listener.response.writableLength > MOST_UNREAD_BYTES) this.letGo(listener);
      else tell(listener, rendered);
    }
  }

  /** At once, not when the connection closes: nothing more may be written to a response that has ended. */
  private letGo(listener: Listener): void {
    const { response } = listener;
    this.listeners.delete(listener);
    // An end waits until all was read, which a browser that stopped reading never does.
    if (response.writableLength > 0) response.destroy();
    else response.end();
  }
}

function tell({ response, topics, sent }: Listener, rendered: ReadonlyMap<string, Fragments>): void {
  const all = topics.flatMap((topic) => Object.entries(rendered.get(topic) ?? {}));
  const changed = all.filter(([name, text]) => sent.get(name) !== text);
  for (const [name, text] of changed) sent.set(name, text);
  // A line also when nothing has changed: a connection that is cut is noticed by writing.
  response.write(changed.length === 0 ? ':\n\n' : `data: ${JSON.stringify(Object.fromEntries(changed))}\n\n`);
}
