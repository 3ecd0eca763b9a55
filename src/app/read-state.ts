import type { BackgroundQuery, PipelineStore, RecordState } from '../ports/pipeline.ts';

/** How a record stands, for whoever has no use for a verdict or an account. */
export async function readState(
  pipeline: Pick<PipelineStore, 'readBackground'>,
  { userId, subscriptionId }: Pick<BackgroundQuery, 'userId' | 'subscriptionId'>,
): Promise<RecordState> {
  const query = { userId, subscriptionId, triggerId: '', accountId: null };
  return (await pipeline.readBackground(query)).state;
}
