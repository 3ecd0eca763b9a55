import type { BackgroundQuery, PipelineStore, RecordState } from '../ports/pipeline.ts';

/** How a record stands, for whoever has no use for a verdict or an account. */
export async function readState(
  pipeline: Pick<PipelineStore, 'readBackground'>,
  { userId, subscriptionId }: Pick<BackgroundQuery, 'userId' | 'subscriptionId'>,
): Promise<RecordState> {
  const query = { userId, subscriptionId, triggerId: '', accountId: null };
  return (await pipeline.readBackground(query)).state;
}

/** A charge of one of these has no answer yet: it may turn out to have been made. */
export async function isOneUnderWay(
  pipeline: Pick<PipelineStore, 'readBackground'>,
  records: readonly Pick<BackgroundQuery, 'userId' | 'subscriptionId'>[],
): Promise<boolean> {
  const states = await Promise.all(records.map((record) => readState(pipeline, record)));
  return states.some(({ open }) => open !== null);
}
