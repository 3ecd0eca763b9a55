import { setTimeout as sleep } from 'node:timers/promises';
import type { Ground } from './ground.ts';

export interface Asked {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly key?: string;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

const ANSWER_MS = 8_000;
const AGAIN_AFTER_MS = 300;
/** Not taken: the same again later. */
const TOO_MANY = 429;

/** Asks whichever API answers. One that is gone, asleep or in trouble is a reason to ask again, under the same key. */
export class ApiDesk {
  private readonly ground: Pick<Ground, 'apiUrls' | 'token'>;
  private turn = 0;

  constructor(ground: Pick<Ground, 'apiUrls' | 'token'>) {
    this.ground = ground;
  }

  /** The first definite answer: done, or refused. */
  async ask(asked: Asked): Promise<Answer> {
    for (;;) {
      const answer = await this.askOnce(asked);
      if (answer !== null && answer.status < 500 && answer.status !== TOO_MANY) return answer;
      await sleep(AGAIN_AFTER_MS);
    }
  }

  private async askOnce({ method, path, body, key }: Asked): Promise<Answer | null> {
    this.turn += 1;
    const url = this.ground.apiUrls[this.turn % this.ground.apiUrls.length] ?? '';
    try {
      const response = await fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${this.ground.token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      return { status: response.status, body: await response.json() };
    } catch {
      // Refused, cut off or too late: whether it was taken is not known.
      return null;
    }
  }
}
