import { notCollected } from '../domain/decide.ts';
import type { Facts } from '../domain/decision.ts';
import type { Instant } from '../domain/instant.ts';
import type { Path } from '../domain/paths.ts';
import type { Subscription, UserId } from '../domain/subscription.ts';
import type { Background, PipelineStore } from '../ports/pipeline.ts';
import type { AccountService, PrimaryAccount, UserService } from '../ports/services.ts';

export interface FactSources {
  readonly users: Pick<UserService, 'get'>;
  readonly accounts: AccountService;
  readonly pipeline: Pick<PipelineStore, 'readBackground'>;
}

export interface FactsQuery {
  readonly path: Path;
  readonly record: Subscription;
  readonly partition: readonly Subscription[];
  readonly triggerId: string;
  readonly now: Instant;
}

export interface Gathered {
  readonly facts: Facts;
  readonly background: Background;
  readonly account: PrimaryAccount | null;
}

/** Everything that a decision about this record asks for. Changes nothing. */
export async function gatherFacts(sources: FactSources, query: FactsQuery): Promise<Gathered> {
  const { path, record, partition, triggerId, now } = query;
  const { userId, subscriptionId } = record;
  // A record that is not collected at all needs no facts about its user.
  const isCollected = notCollected(path, record, now) === null;
  const { user, account } = isCollected ? await askServices(sources, userId) : NOTHING_ASKED;
  const background = await sources.pipeline.readBackground({
    userId,
    subscriptionId,
    triggerId,
    accountId: account?.accountId ?? null,
  });
  const { state, freezes, membershipEvent, achBlock } = background;
  const facts: Facts = {
    triggerId,
    openAttempt: state.open,
    attempts: state.past,
    partition,
    membershipEvent,
    freezes,
    user,
    account: account === null ? null : { ...account, achBlock },
  };
  return { facts, background, account };
}

const NOTHING_ASKED = { user: null, account: null };

async function askServices({ users, accounts }: FactSources, userId: UserId) {
  const [user, account] = await Promise.all([users.get(userId), accounts.primary(userId)]);
  return { user, account };
}
