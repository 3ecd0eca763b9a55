import type { Instant } from '../domain/instant.ts';

/** What a caller asked under a key of theirs. The hash tells one request from another. */
export interface KeyedRequest {
  readonly caller: string;
  readonly key: string;
  readonly hash: string;
}

/** An answer as it was given, to be given again. */
export interface KeptAnswer {
  readonly status: number;
  readonly contentType: string;
  /** JSON text. */
  readonly body: string;
}

export type KeyState =
  /** Nobody has answered it yet: it is new, or whoever began it did not come to the end. */
  | { readonly state: 'open'; readonly since: Instant }
  | { readonly state: 'answered'; readonly answer: KeptAnswer }
  /** The key stands for another request. */
  | { readonly state: 'conflict' };

/** Keys that callers put on requests which move money, and what was answered. */
export interface IdempotencyKeys {
  claim(request: KeyedRequest, at: Instant): Promise<KeyState>;
  /** Keeps the first answer; another one that comes later is dropped. */
  keep(request: KeyedRequest, answer: KeptAnswer, at: Instant): Promise<void>;
}
