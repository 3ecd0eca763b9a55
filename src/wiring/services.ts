import type { z } from 'zod';
import { HttpAccountService } from '../adapters/services/account-service.ts';
import { connectServices } from '../adapters/services/connections.ts';
import { HttpNotificationService } from '../adapters/services/notification-service.ts';
import { HttpProcessor } from '../adapters/services/processor.ts';
import { HttpUserService } from '../adapters/services/user-service.ts';
import type * as sections from '../config/sections.ts';
import type { AccountService, NotificationService, Processor, UserService } from '../ports/services.ts';

export interface ServiceSettings {
  readonly services: z.output<typeof sections.services>;
  readonly processor: z.output<typeof sections.processor>;
}

export interface Services {
  readonly users: UserService;
  readonly accounts: AccountService;
  readonly processor: Processor;
  readonly notifications: NotificationService;
}

export function openServices(settings: ServiceSettings): Services {
  const { users, accounts, payments, notifications } = connectServices(settings);
  return {
    users: new HttpUserService(users),
    accounts: new HttpAccountService(accounts),
    processor: new HttpProcessor(payments),
    notifications: new HttpNotificationService(notifications),
  };
}
