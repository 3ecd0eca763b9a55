import { STATUS_CODES } from 'node:http';
import type { Response } from 'express';
import type { Problem } from '../problem.ts';

export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly problem?: boolean;
  readonly retryAfterS?: number;
}

export function problemReply(problem: Pick<Problem, 'status' | 'code' | 'message' | 'errors'>): Reply {
  const { status, code, message, errors } = problem;
  const title = STATUS_CODES[status] ?? 'Error';
  const body = { type: 'about:blank', title, status, code, detail: message };
  return { status, problem: true, body: errors.length > 0 ? { ...body, errors } : body };
}

export function send(res: Response, reply: Reply): void {
  res.status(reply.status);
  if (reply.retryAfterS !== undefined) res.set('Retry-After', String(reply.retryAfterS));
  if (reply.body === undefined) {
    res.end();
    return;
  }
  res.type(reply.problem ? 'application/problem+json' : 'application/json');
  res.send(JSON.stringify(reply.body));
}
