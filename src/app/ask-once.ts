import type { AccountService, UserService } from '../ports/services.ts';

type Services = { readonly users: Pick<UserService, 'get'>; readonly accounts: AccountService };

/** The same services for one user, who is asked about once however many of the user's records want to know. */
export function askOnce({ users, accounts }: Services): Services {
  let user: ReturnType<UserService['get']> | undefined;
  let account: ReturnType<AccountService['primary']> | undefined;
  return {
    users: { get: (userId) => (user ??= users.get(userId)) },
    accounts: { primary: (userId) => (account ??= accounts.primary(userId)) },
  };
}
