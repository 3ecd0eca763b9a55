import type { z } from 'zod';
import { HttpAccountService } from '../adapters/services/account-service.ts';
import { connectServices } from '../adapters/services/connections.ts';
import { HttpProcessor } from '../adapters/services/processor.ts';
import { HttpUserService } from '../adapters/services/user-service.ts';
import type * as sections from '../config/sections.ts';
import type { AccountService, Processor, UserService } from '../ports/services.ts';

export interface ServiceSettings {
  readonly services: z.output<typeof sections.services>;
  readonly processor: z.output<typeof sections.processor>;
}

export interface Services {
  readonly users: UserService;
  readonly accounts: AccountService;
  readonly processor: Processor;
}

export function openServices(settings: ServiceSettings): Services {
  const { users, accounts, payments } = connectServices(settings);
  return {
    users: new HttpUserService(users),
    accounts: new HttpAccountService(accounts),
    processor: new HttpProcessor(payments),
  };
}
