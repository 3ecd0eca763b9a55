import { closeSync, createReadStream, fstatSync, ftruncateSync, openSync, read, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import type { EntryBody, LedgerEntry } from './entry.ts';
import { OffsetIndex } from './offset-index.ts';

const readAt = promisify(read);
const NEWLINE = 0x0a;

interface Loading {
  rest: Buffer;
  together: { readonly entry: LedgerEntry; readonly offset: number }[];
  bytes: number;
  readonly replay: (entry: LedgerEntry) => void;
}

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
  #failedWrite: string | undefined;

  private constructor(path: string) {
    this.#path = path;
    this.#fd = openSync(path, 'a+');
  }

  /** Streams every entry to `replay`, oldest first, and cuts off what a kill left half-written at the end. */
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

  /** Writes the entries as one: after a kill either all of them are there or none. */
  append(at: string, bodies: readonly EntryBody[]): LedgerEntry[] {
    const entries = bodies.map((body, i): LedgerEntry => {
      const more = i < bodies.length - 1;
      return { seq: this.lastSeq + 1 + i, at, ...body, ...(more && { more }) };
    });
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

  /** Why the next entry could not be written, as far as can be told without writing. */
  get obstacle(): string | undefined {
    const { size, nlink } = fstatSync(this.#fd);
    if (nlink === 0) return `${this.#path} was removed`;
    if (size !== this.#size) return `${this.#path} was changed by another process`;
    return this.#failedWrite;
  }

  close(): void {
    closeSync(this.#fd);
  }

  async #load(replay: (entry: LedgerEntry) => void): Promise<void> {
    const loading: Loading = { rest: Buffer.alloc(0), together: [], bytes: 0, replay };
    for await (const chunk of createReadStream(this.#path, { highWaterMark: 1 << 20 })) {
      this.#takeLines(Buffer.concat([loading.rest, chunk as Buffer]), loading);
    }
    if (loading.rest.length > 0 || loading.together.length > 0) ftruncateSync(this.#fd, this.#size);
  }

  #takeLines(bytes: Buffer, loading: Loading): void {
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      const seq = this.lastSeq + loading.together.length + 1;
      const entry = this.#parse(bytes.toString('utf8', start, end), seq);
      loading.together.push({ entry, offset: this.#size + loading.bytes });
      loading.bytes += end + 1 - start;
      start = end + 1;
      if (entry.more !== true) this.#accept(loading);
    }
    loading.rest = bytes.subarray(start);
  }

  /** Entries that were written together count only once the last of them is read. */
  #accept(loading: Loading): void {
    for (const { entry, offset } of loading.together) {
      loading.replay(entry);
      this.#index.push(offset);
    }
    this.#size += loading.bytes;
    loading.bytes = 0;
    loading.together = [];
  }

  #parse(line: string, seq: number): LedgerEntry {
    try {
      const entry = JSON.parse(line) as LedgerEntry;
      if (entry.seq === seq) return entry;
    } catch {
      // Reported below: a line that is not JSON is as unusable as one out of turn.
    }
    throw new LedgerError(`${this.#path} line ${seq} is damaged; move the file away to start afresh`);
  }

  #write(bytes: Buffer): void {
    // A write that failed may work now, say on a disk that has room again; what others did to the file stays.
    this.#failedWrite = undefined;
    if (this.obstacle !== undefined) throw new LedgerError(this.obstacle);
    try {
      for (let written = 0; written < bytes.length;) {
        written += writeSync(this.#fd, bytes, written);
      }
    } catch (error) {
      // A full disk may have taken half a line; what follows must not be glued to it.
      ftruncateSync(this.#fd, this.#size);
      this.#failedWrite = `cannot write ${this.#path}`;
      throw new LedgerError(this.#failedWrite, { cause: error });
    }
  }
}
