import type { KinesisClient, PutRecordsCommandOutput } from '@aws-sdk/client-kinesis';
import { PutRecordsCommand } from '@aws-sdk/client-kinesis';
import type { Message, Publisher } from '../../ports/publisher.ts';
import type { Timer } from '../../ports/timer.ts';

export interface KinesisPublisherOptions {
  readonly client: KinesisClient;
  readonly stream: string;
  readonly timer: Timer;
  /** Between 0 and 1, for the jitter. */
  readonly random: () => number;
}

/** The most that one PutRecords takes. */
const REQUEST_RECORDS = 500;
const REQUEST_BYTES = 5 * 1_048_576;
/** A request that hangs must not keep the shard for ever; its lease would go on beating. */
const REQUEST_MS = 10_000;
/** Then the caller decides: it knows whether it is about to stop. */
const MOST_TRIES = 6;
const BACKOFF_MS = 100;

/** The messages of one key that are still to be sent. */
interface Line {
  readonly key: string;
  readonly messages: readonly Message[];
  next: number;
  /** How often the next one was refused. */
  tries: number;
}

interface Answer {
  /** Of each message, whether it is stored for certain. */
  readonly taken: readonly boolean[];
  readonly problem: unknown;
}

/**
 * PutRecords promises no order within a request, and may refuse one record and take the next. So a request carries one
 * message of a key, and the next one of that key goes when it is stored:
 *
 *   user 1   a b c      request 1: a d e      e refused
 *   user 2   d          request 2: b e
 *   user 3   e f        request 3: c f
 */
export class KinesisPublisher implements Publisher {
  private readonly options: KinesisPublisherOptions;

  constructor(options: KinesisPublisherOptions) {
    this.options = options;
  }

  async publish(messages: readonly Message[]): Promise<void> {
    const lines = linesOf(messages);
    while (lines.size > 0) {
      const round = nextRound(lines);
      const { taken, problem } = await this.send(round.map(headOf));
      round.forEach((line, index) => {
        if (taken[index] !== true) {
          line.tries += 1;
          return;
        }
        line.next += 1;
        line.tries = 0;
        if (line.next === line.messages.length) lines.delete(line.key);
      });
      await this.afterTries(Math.max(...round.map(({ tries }) => tries)), problem);
    }
  }

  private async send(messages: readonly Message[]): Promise<Answer> {
    const { client, stream } = this.options;
    const Records = messages.map(({ key, text }) => ({ PartitionKey: key, Data: Buffer.from(text) }));
    const request = new PutRecordsCommand({ StreamName: stream, Records });
    try {
      return answerOf(await client.send(request, { abortSignal: AbortSignal.timeout(REQUEST_MS) }), messages);
    } catch (error) {
      // Perhaps stored, and the answer was lost. Sent again it is there twice, and still before what comes next.
      return { taken: [], problem: error };
    }
  }

  private async afterTries(tries: number, problem: unknown): Promise<void> {
    if (tries === 0) return;
    const { stream, timer, random } = this.options;
    if (tries >= MOST_TRIES)
      throw new Error(`${stream} does not take what is sent to it`, { cause: problem });
    await timer.sleep(BACKOFF_MS * 2 ** (tries - 1) * (0.5 + random() / 2));
  }
}

function linesOf(messages: readonly Message[]): Map<string, Line> {
  const byKey = new Map<string, Message[]>();
  for (const message of messages) {
    const line = byKey.get(message.key);
    if (line === undefined) byKey.set(message.key, [message]);
    else line.push(message);
  }
  return new Map([...byKey].map(([key, line]) => [key, { key, messages: line, next: 0, tries: 0 }]));
}

/** At least one: a message alone fits. */
function nextRound(lines: ReadonlyMap<string, Line>): Line[] {
  const round: Line[] = [];
  let bytes = 0;
  for (const line of lines.values()) {
    bytes += bytesOf(headOf(line));
    if (round.length === REQUEST_RECORDS || (round.length > 0 && bytes > REQUEST_BYTES)) break;
    round.push(line);
  }
  return round;
}

function headOf({ messages, next }: Line): Message {
  const head = messages[next];
  if (head === undefined) throw new Error('a line without messages is no longer in the queue');
  return head;
}

const bytesOf = ({ key, text }: Message): number => Buffer.byteLength(key) + Buffer.byteLength(text);

/** PutRecords succeeds as a whole when it refused some records, or all. Emulators spell "absent" as null. */
function answerOf({ Records = [] }: PutRecordsCommandOutput, messages: readonly Message[]): Answer {
  const taken = messages.map((_, index) => {
    const record = Records[index];
    return Boolean(record?.SequenceNumber) && !record?.ErrorCode;
  });
  // The code only: the text names accounts.
  const code = Records.find(({ ErrorCode }) => Boolean(ErrorCode))?.ErrorCode;
  return { taken, problem: code };
}
