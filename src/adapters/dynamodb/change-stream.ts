import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { ConfigurationError } from '../../errors.ts';

/**
 * The ARN of the table's stream. Refuses one that does not carry each row before and after its change: what a change has
 * set cannot be told from what it left as it was.
 */
export async function changeStreamOf(client: DynamoDBClient, table: string): Promise<string> {
  const { Table = {} } = await client.send(new DescribeTableCommand({ TableName: table }));
  const { StreamSpecification, LatestStreamArn } = Table;
  const hasBothImages =
    StreamSpecification?.StreamEnabled === true &&
    StreamSpecification.StreamViewType === 'NEW_AND_OLD_IMAGES';
  if (!hasBothImages || LatestStreamArn === undefined)
    throw new ConfigurationError(
      `FEEDER_ENABLED is true, but ${table} has no stream of new and old images: \`tables\` makes one where there is none, \`doctor\` tells what is there`,
    );
  return LatestStreamArn;
}
