import type { Float } from '../../domain/floats/float.ts';
import type { FloatDependencies } from './float-case.ts';

/** Before it is written: said twice is better than never. */
export function alarmOverpaid(
  { log, metrics }: Pick<FloatDependencies, 'log' | 'metrics'>,
  { userId, floatId }: Float,
  confirmationId: string,
): void {
  metrics.floatOverpaid();
  log.error(
    { alarm: 'float-overpaid', userId, floatId, confirmationId },
    'a member has paid for a float what was not owed',
  );
}
