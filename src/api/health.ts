/** Whether something that this process leans on answers. */
export interface Check {
  readonly name: string;
  /** Without it nothing can be answered; without the others some things are late. */
  readonly needed: boolean;
  readonly answers: () => Promise<unknown>;
}

export interface HealthReport {
  readonly isReady: boolean;
  readonly status: 'ready' | 'degraded' | 'not ready';
  readonly checks: Readonly<Record<string, 'up' | 'down'>>;
}

export type Health = () => Promise<HealthReport>;

/** Shorter than the patience of whoever asks. */
const PATIENCE_MS = 2_000;

export function healthOf(
  checks: readonly Check[],
  sleep: (ms: number, signal: AbortSignal) => Promise<void>,
): Health {
  return async () => {
    const states = await Promise.all(checks.map(async (check) => ({ check, up: await isUp(check, sleep) })));
    const isReady = states.every(({ check, up }) => up || !check.needed);
    const allUp = states.every(({ up }) => up);
    return {
      isReady,
      status: !isReady ? 'not ready' : allUp ? 'ready' : 'degraded',
      checks: Object.fromEntries(states.map(({ check, up }) => [check.name, up ? 'up' : 'down'])),
    };
  };
}

async function isUp({ answers }: Check, sleep: Parameters<typeof healthOf>[1]): Promise<boolean> {
  const answered = new AbortController();
  const tooLong = sleep(PATIENCE_MS, answered.signal).then(() => false);
  try {
    return await Promise.race([answers().then(() => true), tooLong]);
  } catch {
    return false;
  } finally {
    answered.abort();
    // Woken early it rejects, and nobody waits for it any more.
    void tooLong.catch(() => undefined);
  }
}
