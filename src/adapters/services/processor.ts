import { z } from 'zod';
import { formatMoney } from '../../domain/money.ts';
import type { ChargeAnswer, ChargeRequest, Payment, Processor } from '../../ports/services.ts';
import { ALREADY_REFUNDED } from '../../ports/services.ts';
import type { HttpAnswer, HttpService } from './http.ts';

const text = z.string().nullish();
const payment = z.object({
  confirmation_id: z.string().min(1),
  status: z.enum(['COMPLETED', 'ACHSENT', 'FAILED']),
  error_code: text,
  error_message: text,
  account_mask: text,
  card_mask: text,
});

/** Looked up later, a payment may have gone further. That the charge was made is what is asked; the rest comes as events. */
const foundPayment = payment.extend({
  status: z
    .enum(['COMPLETED', 'ACHSENT', 'FAILED', 'REFUNDED', 'CHARGED_BACK'])
    .transform((status) => (status === 'REFUNDED' || status === 'CHARGED_BACK' ? 'COMPLETED' : status)),
});

const problem = z.object({ code: z.string() });

/** When the processor does not say how long to wait. */
const RETRY_AFTER_MS = 1_000;
/** A header that asks for more is not believed. */
const LONGEST_RETRY_AFTER_MS = 300_000;

export class HttpProcessor implements Processor {
  private readonly http: HttpService;

  constructor(http: HttpService) {
    this.http = http;
  }

  charge(key: string, request: ChargeRequest): Promise<ChargeAnswer> {
    return this.post(key, '/payments', bodyOf(request));
  }

  refund(key: string, confirmationId: string): Promise<ChargeAnswer> {
    const path = `/payments/${encodeURIComponent(confirmationId)}/refund`;
    return this.post(key, path, {}, (answer) => this.refusal(answer, confirmationId));
  }

  private async post(
    key: string,
    path: string,
    body: object,
    refusal: (answer: HttpAnswer) => ChargeAnswer | null = () => null,
  ): Promise<ChargeAnswer> {
    try {
      const answer = await this.http.send('POST', path, { headers: { 'idempotency-key': key }, body });
      return refusal(answer) ?? this.understand(answer);
    } catch (error) {
      return { kind: 'unknown', error: error instanceof Error ? error : new Error(String(error)) };
    }
  }

  findByKey(key: string): Promise<Payment | null> {
    return this.find(`/payments/by-key/${encodeURIComponent(key)}`);
  }

  findByConfirmation(confirmationId: string): Promise<Payment | null> {
    return this.find(`/payments/${encodeURIComponent(confirmationId)}`);
  }

  private async find(path: string): Promise<Payment | null> {
    const found = await this.http.read(path, foundPayment);
    return found === null ? null : paymentOf(found);
  }

  /** Anything but a payment or a refusal to take it leaves open what happened: also an answer that makes no sense. */
  private understand({ status, headers, body }: HttpAnswer): ChargeAnswer {
    if (status === 429) return { kind: 'not-taken', retryAfterMs: retryAfterMs(headers) };
    if (status !== 201)
      return { kind: 'unknown', error: this.http.down(`answers ${status} to a charge or refund`) };
    return { kind: 'answered', payment: paymentOf(this.http.checked(payment, body)) };
  }

  /**
   * That a payment was given back before is the one refusal after which this refund cannot be made any more. Others may be
   * a wrong token or a wrong address: the refund is still owed, but charges are not held up for it.
   */
  private refusal({ status, body }: HttpAnswer, confirmationId: string): ChargeAnswer | null {
    if (status < 400 || status >= 500 || status === 408 || status === 429) return null;
    if (status === 409 && problem.safeParse(body).data?.code === ALREADY_REFUNDED)
      return { kind: 'answered', payment: paymentOf(refused(confirmationId, ALREADY_REFUNDED)) };
    return { kind: 'unknown', error: this.http.down(`answers ${status} to a refund`), isRefusal: true };
  }
}

const refused = (confirmationId: string, code: string): z.infer<typeof payment> => ({
  confirmation_id: confirmationId,
  status: 'FAILED',
  error_code: code,
});

const bodyOf = (request: ChargeRequest) => ({
  user_id: request.userId,
  kind: request.kind,
  reference_id: request.referenceId,
  method: request.rail,
  amount: formatMoney(request.amount),
  ...(request.description === null ? {} : { description: request.description }),
});

const paymentOf = (found: z.infer<typeof payment>): Payment => ({
  confirmationId: found.confirmation_id,
  status: found.status,
  errorCode: found.error_code ?? null,
  errorMessage: found.error_message ?? null,
  accountMask: found.account_mask ?? null,
  cardMask: found.card_mask ?? null,
});

function retryAfterMs(headers: Headers): number {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0
    ? Math.min(seconds * 1_000, LONGEST_RETRY_AFTER_MS)
    : RETRY_AFTER_MS;
}
