import { z } from 'zod';
import type { Instant } from '../domain/instant.ts';
import type { FloatId } from '../domain/floats/float.ts';
import { formatIfSet, parseInstant } from '../domain/instant.ts';
import type { Cents } from '../domain/money.ts';
import { formatMoney } from '../domain/money.ts';
import type { UserId } from '../domain/subscription.ts';

const reading = z.object({ now: z.string(), frozen: z.boolean() });
const moved = reading.extend({ callbacks: z.object({ pending: z.number() }) });
const sent = z.object({ status: z.literal('ACHSENT'), confirmation_id: z.string() });
const problem = z.object({ detail: z.string() });

export interface SandboxTime {
  readonly now: Instant;
  readonly frozen: boolean;
}

/** What an operator may do to the pretend bank: its users, its clock, its faults. Production code never calls this. */
export class SandboxClient {
  private readonly url: string;

  constructor(url: string) {
    this.url = url.replace(/\/$/, '');
  }

  async time(): Promise<SandboxTime> {
    return timeOf(reading.parse(await this.call('GET', '/clock')));
  }

  /** Null goes back to the real time. Answers when everything that fell due has happened. */
  async setTime(now: Instant | null): Promise<SandboxTime & { pendingCallbacks: number }> {
    return movedTo(await this.call('PUT', '/clock', { now: formatIfSet(now) }));
  }

  /** `by` such as `1d`, `36h`, `30m`. */
  async advance(by: string): Promise<SandboxTime & { pendingCallbacks: number }> {
    return movedTo(await this.call('POST', '/clock/advance', { by }));
  }

  async putUsers(users: readonly object[]): Promise<void> {
    await this.call('POST', '/sandbox/users', users);
  }

  /** Instead of those before; none and it behaves again. */
  async setFaults(rules: readonly object[]): Promise<void> {
    await this.call('PUT', '/sandbox/faults', { rules });
  }

  /** An ACH debit for a float, as a worker would send it; gives the bank's name for it. */
  async sendDebit(
    key: string,
    { userId, floatId, amount }: { userId: UserId; floatId: FloatId; amount: Cents },
  ): Promise<string> {
    const body = {
      user_id: userId,
      kind: 'FLOAT',
      reference_id: floatId,
      method: 'ACH',
      amount: formatMoney(amount),
    };
    return sent.parse(await this.call('POST', '/payments', body, { 'idempotency-key': key })).confirmation_id;
  }

  private async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<unknown> {
    const response = await fetch(this.url + path, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } }),
      signal: AbortSignal.timeout(60_000),
    });
    const answer: unknown = await response.json();
    if (response.ok) return answer;
    const said = problem.safeParse(answer);
    throw new Error(`the sandbox refused: ${said.success ? said.data.detail : response.statusText}`);
  }
}

function timeOf({ now, frozen }: z.infer<typeof reading>): SandboxTime {
  const instant = parseInstant(now);
  if (instant === null) throw new Error(`the sandbox's clock says ${JSON.stringify(now)}`);
  return { now: instant, frozen };
}

function movedTo(answer: unknown): SandboxTime & { pendingCallbacks: number } {
  const { callbacks, ...time } = moved.parse(answer);
  return { ...timeOf(time), pendingCallbacks: callbacks.pending };
}
