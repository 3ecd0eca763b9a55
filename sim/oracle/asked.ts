/** What people have asked for. Nothing else may be begun in their name. */
export class Asked {
  private readonly wishes = new Set<string>();

  note(...wish: Wish): void {
    this.wishes.add(wish.join(' '));
  }

  has(...wish: Wish): boolean {
    return this.wishes.has(wish.join(' '));
  }
}

/** What for, of which record or by whom, and under which key; or to which tier. */
type Wish = [kind: 'refund' | 'come-back' | 'upgrade' | 'plan', whose: string, key: string];
