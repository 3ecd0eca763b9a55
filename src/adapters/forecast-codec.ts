import { z } from 'zod';
import { PLANS } from '../domain/plan.ts';
import { COLLECTING_PROCESSES } from '../domain/runs.ts';
import type { Forecast } from '../ports/runs.ts';
import { instant, money } from './codecs.ts';

export const tally = z.object({ count: z.int(), amount: money, reasons: z.record(z.string(), z.int()) });
export const planTallies = z.partialRecord(z.enum(PLANS), tally);

export const forecast = z.object({
  process: z.enum(COLLECTING_PROCESSES),
  asOf: instant,
  records: z.int(),
  amount: money,
  byPlan: planTallies,
  due: z.int(),
  malformed: z.int(),
  unreachable: z.int(),
}) satisfies z.ZodType<Forecast>;
