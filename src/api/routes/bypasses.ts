import { z } from 'zod';
import { dateOf } from '../../domain/calendar-date.ts';
import { bypassCounts } from '../../domain/floats/granting.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Bypass, Bypasses } from '../../ports/floats.ts';
import type { Log } from '../../ports/log.ts';
import { date, dateText, reason, userId } from '../fields.ts';
import { Problem, invalidField } from '../problems.ts';
import type { Route } from '../route.ts';
import { route } from '../route.ts';
import { told } from '../told.ts';

export interface BypassRouteDependencies {
  readonly bypasses: Bypasses;
  readonly clock: Clock;
  readonly log: Log;
}

const view = z.strictObject({
  user_id: z.string(),
  expiration_date: dateText.meta({ description: 'The last day on which it counts, in UTC' }),
  reason: z.string(),
  active: z.boolean().meta({ description: 'Whether it counts today' }),
});

const tag = 'Floats';
const path = '/v1/{user_id}/bypass';
const params = z.strictObject({ user_id: userId });

export const bypassRoutes = ({ bypasses, clock, log }: BypassRouteDependencies): Route[] => {
  const today = () => dateOf(clock.now());
  const viewOf = ({ userId: user, expirationDate, reason: why }: Bypass): z.output<typeof view> => ({
    user_id: user,
    expiration_date: expirationDate,
    reason: why,
    active: bypassCounts(expirationDate, today()),
  });
  return [
    route({
      method: 'get',
      path,
      tag,
      summary: 'Whether a member may have a float without meeting the requirements',
      role: 'viewer',
      params,
      answers: { 200: view },
      problems: ['not-found', 'malformed-record'],
      async handle({ params: { user_id: user } }) {
        const bypass = await told(bypasses.get(user));
        if (bypass === null) throw none();
        return { status: 200, body: viewOf(bypass) };
      },
    }),
    route({
      method: 'post',
      path,
      tag,
      summary: 'Let a member have a float without meeting the requirements, up to and on a day',
      description: 'Skips the requirements only. Given again it is replaced.',
      role: 'operator',
      params,
      body: z.strictObject({ expiration_date: date, reason }),
      answers: { 201: view },
      async handle({ params: { user_id: user }, body }, { caller, requestId }) {
        const { expiration_date: expirationDate } = body;
        if (!bypassCounts(expirationDate, today()))
          throw invalidField('body', 'expiration_date', `a day from ${today()} on`);
        const bypass: Bypass = { userId: user, expirationDate, reason: body.reason };
        await bypasses.save(bypass);
        log.info({ requestId, by: caller.name, userId: user, expirationDate }, 'a bypass was given');
        return { status: 201, body: viewOf(bypass) };
      },
    }),
    route({
      method: 'delete',
      path,
      tag,
      summary: 'Take a bypass back',
      role: 'operator',
      params,
      answers: { 200: z.strictObject({ removed: z.string() }) },
      problems: ['not-found'],
      async handle({ params: { user_id: user } }, { caller, requestId }) {
        if (!(await bypasses.remove(user))) throw none();
        log.info({ requestId, by: caller.name, userId: user }, 'a bypass was taken back');
        return { status: 200, body: { removed: user } };
      },
    }),
  ];
};

const none = (): Problem => new Problem('not-found', 'this user has no bypass');
