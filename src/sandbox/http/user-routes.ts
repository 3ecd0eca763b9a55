import { Router, type Response } from 'express';
import { z } from 'zod';
import type { Bank } from '../bank.ts';
import type { FaultFacts } from '../faults/fault-dial.ts';
import { moneyText } from '../money.ts';
import { Problem } from '../problem.ts';
import type { SandboxUser } from '../users/user-book.ts';
import { serve } from './service-call.ts';
import { checked } from './validation.ts';

const banRequest = z.strictObject({ reason: z.string().min(1).max(500) });

function knownUser(bank: Bank, userId: string): SandboxUser {
  const user = bank.books.users.find(userId);
  if (user === undefined) throw new Problem(404, 'user_not_found', 'there is no such user');
  return user;
}

/** Ids of strangers come from outside and are written to the ledger: keep the line short. */
const short = (userId: string) => userId.slice(0, 128);

async function readUser(bank: Bank, userId: string, res: Response): Promise<void> {
  const facts: FaultFacts = { user_id: userId };
  await serve(bank, res, {
    service: 'users',
    key: short(userId),
    facts,
    perform: () => {
      const user = knownUser(bank, userId);
      const { is_employee, email, tier, tier_version } = user.script;
      return {
        status: 200,
        body: { user_id: userId, status: user.status, is_employee, email, tier, tier_version },
      };
    },
    answered: (how, mark) => ({ type: 'user.read', user_id: short(userId), ...mark, ...how }),
  });
}

async function banUser(bank: Bank, userId: string, body: unknown, res: Response): Promise<void> {
  const { reason } = checked(banRequest, body);
  await serve(bank, res, {
    service: 'users',
    key: short(userId),
    facts: { user_id: userId },
    requested: (mark) => ({ type: 'user.ban_requested', user_id: short(userId), ...mark }),
    perform: () => {
      knownUser(bank, userId);
      bank.timeline.record({ type: 'user.banned', user_id: userId, reason });
      return { status: 204 };
    },
    answered: (how) => ({ type: 'user.ban_answered', user_id: short(userId), ...how }),
  });
}

async function readAccount(bank: Bank, userId: string, res: Response): Promise<void> {
  await serve(bank, res, {
    service: 'transactions',
    key: short(userId),
    facts: { user_id: userId },
    perform: () => {
      const user = knownUser(bank, userId);
      const { account, has_debit_card } = user.script;
      if (account === null) throw new Problem(404, 'account_not_found', 'the user has no account');
      const { account_id = `acc_${userId}`, mask, institution_id } = account;
      const available_balance = moneyText(user.balance(bank.timeline.now()));
      return { status: 200, body: { account_id, mask, available_balance, institution_id, has_debit_card } };
    },
    answered: (how, mark) => ({ type: 'account.read', user_id: short(userId), ...mark, ...how }),
  });
}

/** The user service and the transactions service. */
export function userRoutes(bank: Bank): Router {
  const router = Router();
  router.get('/users/:id', (req, res) => readUser(bank, req.params.id, res));
  router.post('/users/:id/ban', (req, res) => banUser(bank, req.params.id, req.body, res));
  router.get('/users/:id/accounts/primary', (req, res) => readAccount(bank, req.params.id, res));
  return router;
}
