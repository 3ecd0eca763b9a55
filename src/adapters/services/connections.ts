import type { z } from 'zod';
import type * as sections from '../../config/sections.ts';
import { HttpService } from './http.ts';
import { sigV4 } from './sign-request.ts';

export interface ServiceConnections {
  readonly users: HttpService;
  readonly accounts: HttpService;
  readonly payments: HttpService;
  readonly notifications: HttpService;
}

/** For everything but charges, which have their own limit. */
const TIMEOUT_MS = 5_000;

/** The services as the configuration names them, each with what it wants to know us by. */
export function connectServices({
  services,
  processor,
}: {
  readonly services: z.output<typeof sections.services>;
  readonly processor: z.output<typeof sections.processor>;
}): ServiceConnections {
  const region = services.USER_SERVICE_REGION;
  return {
    users: new HttpService({
      name: 'user service',
      url: services.USER_SERVICE_URL,
      sign: region === undefined ? undefined : sigV4({ region }),
      timeoutMs: TIMEOUT_MS,
    }),
    accounts: new HttpService({
      name: 'transactions service',
      url: services.TXN_SERVICE_URL,
      token: services.TXN_TOKEN,
      timeoutMs: TIMEOUT_MS,
    }),
    payments: new HttpService({
      name: 'payments service',
      url: services.PAYMENTS_SERVICE_URL,
      token: services.PAYMENTS_TOKEN,
      timeoutMs: processor.PROCESSOR_TIMEOUT_MS,
    }),
    notifications: new HttpService({
      name: 'notifications service',
      url: services.NOTIFICATIONS_URL,
      token: services.NOTIFICATIONS_TOKEN,
      timeoutMs: TIMEOUT_MS,
    }),
  };
}
