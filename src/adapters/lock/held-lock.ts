import { LockLostError } from '../../errors.ts';
import type { Fence, Lock } from '../../ports/lock.ts';
import type { Claim } from './claim.ts';
import { Lease } from './lease.ts';
import { isMine } from './lock-conditions.ts';
import type { LockContext } from './lock-context.ts';
import type { SeenRow } from './lock-row.ts';
import { Turns } from './turns.ts';

/** After a heartbeat without answer the next one comes this many times sooner, for a lease may hold only two. */
const HURRY = 4;
const RELEASE_TRIES = 6;
const FIRST_PAUSE_MS = 50;

/**
 * A lock from its claim to its end. Two loops run meanwhile: heartbeats, which take turns with the fenced writes, and a
 * watch on the lease, which waits for neither. The end is final: a lost lock never comes back.
 */
export class HeldLock implements Lock {
  readonly fence: Fence;
  readonly #context: LockContext;
  readonly #lease: Lease;
  readonly #turns = new Turns();
  readonly #abort = new AbortController();
  readonly #beating = new AbortController();
  readonly #watching = new AbortController();
  readonly #onEnd: (lock: HeldLock) => void;
  #version: string;
  /** A heartbeat whose answer did not come. It is sent again as it was, and may have been applied at its first sending. */
  #unanswered: { readonly version: string; readonly sentMs: number } | null = null;
  #loss: LockLostError | null = null;
  /** The row has another owner, or was deleted: there is nothing left to give back. */
  #rowIsGone = false;
  #releasing: Promise<void> | null = null;

  constructor(context: LockContext, claim: Claim, onEnd: (lock: HeldLock) => void) {
    this.#context = context;
    this.#version = claim.version;
    this.#lease = new Lease(context.timer, context.policy.leaseMs, claim.sentMs);
    this.#onEnd = onEnd;
    this.fence = {
      key: claim.key,
      ownerName: claim.ownerName,
      exclusively: (write) => this.#exclusively(write),
    };
    void this.#keepBeating();
    void this.#watchLease();
  }

  /** Looking counts as waking up: after a stall the caller may run before the timers do. */
  get signal(): AbortSignal {
    this.#noticeTime();
    return this.#abort.signal;
  }

  remainingMs(): number {
    this.#noticeTime();
    const remainingMs = this.#lease.remainingMs();
    return this.#hasEnded() ? Math.min(remainingMs, -1) : remainingMs;
  }

  release(): Promise<void> {
    this.#releasing ??= this.#giveBack();
    return this.#releasing;
  }

  /** Takes the lock away from work that has not finished. */
  async close(): Promise<void> {
    await this.release();
    this.#abort.abort(new LockLostError(`lock ${this.fence.key}: the lock client was closed`));
  }

  async #exclusively<T>(write: () => Promise<T>): Promise<T> {
    this.#assertHeld();
    return this.#turns.take(async () => {
      this.#assertHeld();
      return write();
    }, this.#abort.signal);
  }

  #assertHeld(): void {
    this.#noticeTime();
    if (this.#loss !== null) throw this.#loss;
    if (this.#hasEnded()) throw new LockLostError(`lock ${this.fence.key}: it was released`);
  }

  #hasEnded(): boolean {
    return this.#loss !== null || this.#releasing !== null;
  }

  // ── the lease ────────────────────────────────────────────────────────────────────────────────────────────────────

  async #watchLease(): Promise<void> {
    try {
      while (!this.#watching.signal.aborted) {
        // A renewal meanwhile moves the end: wake up, look again.
        await this.#context.timer.sleep(Math.max(0, this.#lease.workingMs()), this.#watching.signal);
        this.#noticeTime();
      }
    } catch (error) {
      this.#loseUnlessStopped(this.#watching.signal, error);
    }
  }

  #noticeTime(): void {
    if (this.#watching.signal.aborted || this.#lease.workingMs() > 0) return;
    this.#lose('its lease is nearly over and could not be renewed');
  }

  #lose(reason: string, cause?: unknown): void {
    if (this.#loss !== null) return;
    this.#loss = new LockLostError(`lock ${this.fence.key}: ${reason}`, { cause });
    this.#beating.abort();
    this.#watching.abort();
    this.#context.report({ type: 'lost', key: this.fence.key, ownerName: this.fence.ownerName, reason });
    this.#onEnd(this);
    this.#abort.abort(this.#loss);
  }

  #loseRow(reason: string): void {
    this.#rowIsGone = true;
    this.#lose(reason);
  }

  #loseUnlessStopped(stop: AbortSignal, error: unknown): void {
    if (!stop.aborted) this.#lose('it could not be kept alive', error);
  }

  // ── heartbeats ───────────────────────────────────────────────────────────────────────────────────────────────────

  async #keepBeating(): Promise<void> {
    const { heartbeatMs } = this.#context.policy;
    const stop = this.#beating.signal;
    try {
      while (!stop.aborted) {
        await this.#context.timer.sleep(this.#unanswered === null ? heartbeatMs : heartbeatMs / HURRY, stop);
        await this.#turns.take(() => this.#beat(), stop);
      }
    } catch (error) {
      this.#loseUnlessStopped(stop, error);
    }
  }

  async #beat(): Promise<void> {
    this.#noticeTime();
    if (this.#hasEnded()) return;
    const { ids, policy, requests, timer, deleteOnSeconds } = this.#context;
    const { key, ownerName } = this.fence;
    const sentMs = timer.elapsedMs();
    this.#unanswered ??= { version: ids(), sentMs };
    const { version } = this.#unanswered;
    const answer = await requests.renew(key, isMine(this.#version, ownerName), {
      version,
      leaseMs: policy.leaseMs,
      deleteOnSeconds: deleteOnSeconds(),
    });
    if (answer.kind === 'written') this.#renewed(version, sentMs);
    if (answer.kind === 'refused') this.#judge(answer.row);
    if (answer.kind === 'unclear') {
      this.#context.report({ type: 'heartbeat-failed', key, ownerName, reason: answer.error.message });
    }
  }

  /** A refused heartbeat: either it had been applied already, or the lock has another owner. */
  #judge(row: SeenRow | null): void {
    if (row === null) return this.#loseRow('its row was deleted');
    if (row.ownerName !== this.fence.ownerName) return this.#loseRow('somebody else holds it');
    if (row.isReleased) return this.#loseRow('somebody else released it');
    if (row.version === this.#unanswered?.version) return this.#renewed(row.version, this.#unanswered.sentMs);
    // Ours by its owner, which is used for one acquisition only. Go on from the version that is there.
    this.#version = row.version;
    this.#unanswered = null;
  }

  #renewed(version: string, sentMs: number): void {
    this.#version = version;
    this.#unanswered = null;
    this.#lease.renew(sentMs);
  }

  // ── the release ──────────────────────────────────────────────────────────────────────────────────────────────────

  async #giveBack(): Promise<void> {
    this.#beating.abort();
    try {
      // A heartbeat or a write in flight finishes first, but the release does not wait for it beyond the lease.
      await this.#turns.take(() => this.#sendRelease(), this.#abort.signal);
    } catch {
      await this.#sendRelease();
    }
    this.#watching.abort();
    this.#onEnd(this);
  }

  /** Never throws: work that is done is done, and the lease ends by itself. */
  async #sendRelease(): Promise<void> {
    const { ids, requests, timer, report } = this.#context;
    const { key, ownerName } = this.fence;
    const nextVersion = ids();
    for (let attempt = 0; attempt < RELEASE_TRIES && !this.#rowIsGone; attempt += 1) {
      if (attempt > 0) await timer.sleep(FIRST_PAUSE_MS * 2 ** (attempt - 1));
      const answer = await requests.release(key, isMine(this.#version, ownerName), nextVersion);
      const isReleased =
        answer.kind === 'refused' && answer.row?.ownerName === ownerName && answer.row.isReleased;
      if (answer.kind === 'written' || isReleased) return report({ type: 'released', key, ownerName });
      // An unanswered heartbeat that was applied leaves the row ours with another version, which the next try uses.
      if (answer.kind === 'refused') this.#judge(answer.row);
    }
    if (!this.#rowIsGone) report({ type: 'release-failed', key, ownerName });
  }
}
