import { z } from 'zod';
import type { UserFacts } from '../../domain/decision.ts';
import type { UserId } from '../../domain/subscription.ts';
import type { UserService } from '../../ports/services.ts';
import type { HttpService } from './http.ts';

const user = z.object({ status: z.string(), is_employee: z.boolean().optional() });

export class HttpUserService implements UserService {
  private readonly http: HttpService;

  constructor(http: HttpService) {
    this.http = http;
  }

  async get(userId: UserId): Promise<UserFacts | null> {
    const found = await this.http.read(`/users/${encodeURIComponent(userId)}`, user);
    return found === null ? null : { status: found.status, isEmployee: found.is_employee ?? false };
  }

  async ban(userId: UserId, reason: string): Promise<boolean> {
    const path = `/users/${encodeURIComponent(userId)}/ban`;
    const { status } = await this.http.send('POST', path, { body: { reason } }).catch((error: unknown) => {
      throw this.http.down('does not answer', error);
    });
    if (status === 404) return false;
    if (status < 200 || status > 299) throw this.http.down(`answers ${status} to a ban`);
    return true;
  }
}
