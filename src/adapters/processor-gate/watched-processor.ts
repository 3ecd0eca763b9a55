import type { AttemptResult, Metrics } from '../../ports/metrics.ts';
import type { ChargeAnswer, ChargeRequest, Payment, Processor } from '../../ports/services.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';

/** Tells the breaker and the meters what the processor answers. */
export class WatchedProcessor implements Processor {
  private readonly processor: Processor;
  private readonly breaker: CircuitBreaker;
  private readonly metrics: Metrics;

  constructor(processor: Processor, breaker: CircuitBreaker, metrics: Metrics) {
    this.processor = processor;
    this.breaker = breaker;
    this.metrics = metrics;
  }

  async charge(key: string, request: ChargeRequest): Promise<ChargeAnswer> {
    const answer = await this.processor.charge(key, request);
    this.breaker.record(answer.kind !== 'unknown');
    this.metrics.attempt(request.rail, resultOf(answer));
    return answer;
  }

  async refund(key: string, confirmationId: string): Promise<ChargeAnswer> {
    const answer = await this.processor.refund(key, confirmationId);
    const isAboutItAlone = answer.kind === 'unknown' && answer.isRefusal === true;
    if (!isAboutItAlone) this.breaker.record(answer.kind !== 'unknown');
    return answer;
  }

  findByKey(key: string): Promise<Payment | null> {
    return this.processor.findByKey(key);
  }

  findByConfirmation(confirmationId: string): Promise<Payment | null> {
    return this.processor.findByConfirmation(confirmationId);
  }
}

function resultOf(answer: ChargeAnswer): AttemptResult {
  switch (answer.kind) {
    case 'answered':
      return answer.payment.status;
    case 'not-taken':
      return 'NOT_TAKEN';
    case 'unknown':
      return 'UNKNOWN';
  }
}
