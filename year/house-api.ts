import { z } from 'zod';
import { prorationFor } from '../src/domain/plans/proration.ts';
import { parseInstant } from '../src/domain/instant.ts';
import type { Instant } from '../src/domain/instant.ts';
import { cents, formatMoney } from '../src/domain/money.ts';
import type { UserId } from '../src/domain/subscription.ts';
import type { PlanChoice } from './members.ts';

const details = z.object({ next_billing_date: z.string().nullable() });

const ANSWER_MS = 60_000;

/** Prices of `TIERS`, as a member knows them from the house's pages. */
const PLUS = { tier: 'Plus', version: 'v1' };
const PRICES = { wanted: cents(999), base: cents(499) };

/** What members do in the app: it calls the REST API for them, like any caller. */
export class HouseApi {
  private readonly url: string;
  private readonly token: string;

  constructor(url: string, tokens: string) {
    this.url = url;
    const [, token = ''] = /(?:^|,)[^:,]+:operator:([^,]+)/.exec(tokens) ?? [];
    this.token = token;
  }

  async join(userId: UserId, { term, tier }: PlanChoice): Promise<void> {
    const [name, version] = tier ?? [];
    const body = { term, ...(name === undefined ? {} : { tier: name, version }) };
    await this.call('PUT', `/v1/${userId}/subscriptions/activate`, body);
  }

  async upgrade(userId: UserId, now: Instant): Promise<void> {
    const { body } = await this.call('GET', `/v1/${userId}/billing-details`);
    const found = details.safeParse(body);
    const next = found.success ? parseInstant(found.data.next_billing_date ?? '') : null;
    const amount = next === null ? null : prorationFor(PRICES, now, next);
    if (amount === null) return;
    const wish = { ...PLUS, amount: formatMoney(amount) };
    await this.call('POST', `/v1/${userId}/subscriptions/upgrade`, wish, `upgrade-${userId}`);
  }

  async advance(
    userId: UserId,
    float: { readonly amount: string; readonly due_date: string },
  ): Promise<void> {
    await this.call('POST', `/v1/${userId}/floats`, float, `float-${userId}-${float.due_date}`);
  }

  /** What the workers have counted: under one roof all roles share their metrics. */
  async metrics(): Promise<string> {
    const response = await fetch(`${this.url}/metrics`, {
      headers: { authorization: `Bearer ${this.token}` },
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    if (!response.ok) throw new Error(`the API answers ${response.status} to GET /metrics`);
    return response.text();
  }

  /** A refusal is an answer: members ask for what they cannot have. Anything else is a fault. */
  private async call(
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const answer: unknown = await response.json();
    if (response.ok || REFUSALS.has(response.status)) return { status: response.status, body: answer };
    throw new Error(`the API answers ${response.status} to ${method} ${path.replace(/year-\d+/, '…')}`);
  }
}

const REFUSALS = new Set([402, 404, 409]);
