/** Where each line of the ledger starts: eight bytes per entry, so that a page is one read at the right place. */
export class OffsetIndex {
  #offsets = new Float64Array(1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(offset: number): void {
    if (this.#length === this.#offsets.length) {
      const grown = new Float64Array(this.#offsets.length * 2);
      grown.set(this.#offsets);
      this.#offsets = grown;
    }
    this.#offsets[this.#length] = offset;
    this.#length += 1;
  }

  /** Start of the line with that zero-based number, or `end` when there is no such line yet. */
  at(line: number, end: number): number {
    return line < this.#length ? (this.#offsets[line] ?? end) : end;
  }
}
