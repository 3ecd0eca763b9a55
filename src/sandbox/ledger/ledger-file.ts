import { closeSync, createReadStream, fstatSync, ftruncateSync, openSync, read, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import type { EntryBody, LedgerEntry } from './entry.ts';
import { OffsetIndex } from './offset-index.ts';

const readAt = promisify(read);
const NEWLINE = 0x0a;

/** Thrown when the ledger cannot be trusted or written; nothing was answered on the strength of it. */
export class LedgerError extends Error {}

/**
 * The append-only file of JSON lines that is the sandbox's only state. A line is handed to the operating system
 * before the call returns, so killing the process loses nothing that was answered. (A power cut may: no fsync.)
 */
export class LedgerFile {
  readonly #path: string;
  readonly #fd: number;
  readonly #index = new OffsetIndex();
  #size = 0;

  private constructor(path: string) {
    this.#path = path;
    this.#fd = openSync(path, 'a+');
  }

  /** Streams every entry to `replay`, oldest first, and cuts off a last line that a kill left half-written. */
  static async open(path: string, replay: (entry: LedgerEntry) => void): Promise<LedgerFile> {
    const ledger = new LedgerFile(path);
    try {
      await ledger.#load(replay);
    } catch (error) {
      ledger.close();
      throw error;
    }
    return ledger;
  }

  get lastSeq(): number {
    return this.#index.length;
  }

  append(at: string, bodies: readonly EntryBody[]): LedgerEntry[] {
    const entries = bodies.map((body, i) => ({ seq: this.lastSeq + 1 + i, at, ...body }));
    const lines = entries.map((entry) => Buffer.from(`${JSON.stringify(entry)}\n`));
    this.#write(Buffer.concat(lines));
    for (const line of lines) {
      this.#index.push(this.#size);
      this.#size += line.length;
    }
    return entries;
  }

  /** The raw lines of entries `after` < seq ≤ `after + count`. */
  async lines(after: number, count: number): Promise<string[]> {
    const start = this.#index.at(after, this.#size);
    const end = this.#index.at(after + count, this.#size);
    if (start >= end) return [];
    const bytes = Buffer.alloc(end - start);
    for (let filled = 0; filled < bytes.length;) {
      const { bytesRead } = await readAt(this.#fd, bytes, filled, bytes.length - filled, start + filled);
      if (bytesRead === 0) throw new LedgerError(`${this.#path} is shorter than it was`);
      filled += bytesRead;
    }
    return bytes.toString('utf8').slice(0, -1).split('\n');
  }

  close(): void {
    closeSync(this.#fd);
  }

  async #load(replay: (entry: LedgerEntry) => void): Promise<void> {
    let rest: Buffer = Buffer.alloc(0);
    for await (const chunk of createReadStream(this.#path, { highWaterMark: 1 << 20 })) {
      rest = this.#takeLines(Buffer.concat([rest, chunk as Buffer]), replay);
    }
    if (rest.length > 0) ftruncateSync(this.#fd, this.#size);
  }

  #takeLines(bytes: Buffer, replay: (entry: LedgerEntry) => void): Buffer {
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      replay(this.#parse(bytes.toString('utf8', start, end)));
      this.#index.push(this.#size);
      this.#size += end + 1 - start;
      start = end + 1;
    }
    return bytes.subarray(start);
  }

  #parse(line: string): LedgerEntry {
    const seq = this.lastSeq + 1;
    try {
      const entry = JSON.parse(line) as LedgerEntry;
      if (entry.seq === seq) return entry;
    } catch {
      // Reported below: a line that is not JSON is as unusable as one out of turn.
    }
    throw new LedgerError(`${this.#path} line ${seq} is damaged; move the file away to start afresh`);
  }

  #write(bytes: Buffer): void {
    if (fstatSync(this.#fd).size !== this.#size) {
      throw new LedgerError(`${this.#path} was changed by another process`);
    }
    try {
      for (let written = 0; written < bytes.length;) {
        written += writeSync(this.#fd, bytes, written);
      }
    } catch (error) {
      // A full disk may have taken half a line; what follows must not be glued to it.
      ftruncateSync(this.#fd, this.#size);
      throw new LedgerError(`cannot write ${this.#path}`, { cause: error });
    }
  }
}
