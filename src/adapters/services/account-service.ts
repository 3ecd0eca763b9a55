import { z } from 'zod';
import { parseMoney } from '../../domain/money.ts';
import type { UserId } from '../../domain/subscription.ts';
import type { AccountService, PrimaryAccount } from '../../ports/services.ts';
import type { HttpService } from './http.ts';

const account = z.object({
  account_id: z.string().min(1),
  available_balance: z.string(),
  has_debit_card: z.boolean(),
});

export class HttpAccountService implements AccountService {
  private readonly http: HttpService;

  constructor(http: HttpService) {
    this.http = http;
  }

  async primary(userId: UserId): Promise<PrimaryAccount | null> {
    const found = await this.http.read(`/users/${encodeURIComponent(userId)}/accounts/primary`, account);
    if (found === null) return null;
    const availableBalance = parseMoney(found.available_balance);
    if (availableBalance === null) throw this.http.down('answers a balance that is no amount');
    return { accountId: found.account_id, availableBalance, hasDebitCard: found.has_debit_card };
  }
}
