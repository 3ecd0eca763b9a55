import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { z } from 'zod';
import type { Attendance, SignOfLife } from '../../ports/attendance.ts';
import { unlessRefused } from './conditions.ts';
import { read, write } from './item-codec.ts';
import { queryToTheEnd } from './query.ts';

export interface AttendanceOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
}

const sign = z.object({ bridgeId: z.string(), beat: z.int() }) satisfies z.ZodType<SignOfLife>;

const partition = (stream: string): string => `BRIDGES#${stream}`;
const key = (stream: string, bridgeId: string) => ({ pk: partition(stream), sk: bridgeId });

export class DynamoAttendance implements Attendance {
  private readonly options: AttendanceOptions;

  constructor(options: AttendanceOptions) {
    this.options = options;
  }

  async sign(stream: string, content: SignOfLife): Promise<void> {
    const Item = write(sign, content, key(stream, content.bridgeId));
    await this.options.client.send(new PutItemCommand({ TableName: this.options.table, Item }));
  }

  async list(stream: string): Promise<readonly SignOfLife[]> {
    const items = await queryToTheEnd(this.options.client, {
      TableName: this.options.table,
      ConsistentRead: true,
      KeyConditionExpression: 'pk = :stream',
      ExpressionAttributeValues: { ':stream': { S: partition(stream) } },
    });
    return items.map((item) => read(sign, item));
  }

  async remove(stream: string, { bridgeId, beat }: SignOfLife): Promise<void> {
    const request = new DeleteItemCommand({
      TableName: this.options.table,
      Key: marshall(key(stream, bridgeId)),
      ConditionExpression: 'beat = :seen',
      ExpressionAttributeValues: { ':seen': { N: String(beat) } },
    });
    await unlessRefused(() => this.options.client.send(request));
  }
}
