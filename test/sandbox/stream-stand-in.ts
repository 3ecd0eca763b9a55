import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { Json } from './bank-client.ts';

interface PutRecords {
  readonly Records: readonly { readonly PartitionKey: string; readonly Data: string }[];
}

/** What the stream says of a record that it refused. */
export type Refusal = Readonly<Record<string, string | null>>;

/** The PutRecords of a stream that refuses the records of some users, which the emulator never does. */
export class StreamStandIn {
  /** Users, and what is said about each of their records instead of taking it. */
  readonly refusals = new Map<string, Refusal>();
  readonly taken: { readonly user: string; readonly type: string }[] = [];
  requests = 0;
  readonly #server: Server = createServer((req, res) => {
    void this.#answer(req).then((body) => {
      res.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' });
      res.end(JSON.stringify(body));
    });
  });

  static async forTest(): Promise<StreamStandIn> {
    const standIn = new StreamStandIn();
    standIn.#server.listen(0, '127.0.0.1');
    await once(standIn.#server, 'listening');
    onTestFinished(() => {
      standIn.#server.close();
      standIn.#server.closeAllConnections();
    });
    return standIn;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async #answer(req: IncomingMessage): Promise<Json> {
    const { Records } = JSON.parse(await text(req)) as PutRecords;
    const answers = Records.map(({ PartitionKey, Data }) => this.#put(PartitionKey, Data));
    this.requests += 1;
    return { FailedRecordCount: answers.filter((answer) => answer['ErrorCode']).length, Records: answers };
  }

  #put(user: string, data: string): Refusal {
    const refusal = this.refusals.get(user);
    if (refusal !== undefined) return refusal;
    const { type } = JSON.parse(Buffer.from(data, 'base64').toString()) as { type: string };
    this.taken.push({ user, type });
    return { SequenceNumber: String(this.taken.length), ShardId: 'shardId-000000000000' };
  }
}
