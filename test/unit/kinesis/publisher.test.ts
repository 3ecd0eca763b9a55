import type { KinesisClient, PutRecordsCommand } from '@aws-sdk/client-kinesis';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KinesisPublisher } from '../../../src/adapters/kinesis/publisher.ts';
import type { Message } from '../../../src/ports/publisher.ts';

/** What happens to one record of a request, or to the whole of it. */
type Luck = 'taken' | 'refused' | 'request-fails' | 'answer-lost';

/** A stream in memory that takes what the luck lets it take, and turns a request around: none promises an order. */
class UnluckyStream {
  readonly stored: Message[] = [];
  readonly requests: number[] = [];
  readonly sleeps: number[] = [];
  private readonly luck: Iterator<Luck>;

  constructor(luck: Iterable<Luck>) {
    this.luck = luck[Symbol.iterator]();
  }

  publisher(): KinesisPublisher {
    return new KinesisPublisher({
      client: { send: (command: PutRecordsCommand) => this.put(command) } as unknown as KinesisClient,
      stream: 'site-subscriptions',
      timer: { elapsedMs: () => 0, sleep: async (ms) => void this.sleeps.push(ms) },
      random: () => 1,
    });
  }

  of(key: string): string[] {
    return this.stored.filter((message) => message.key === key).map(({ text }) => text);
  }

  private async put({ input }: PutRecordsCommand): Promise<unknown> {
    const records = (input.Records ?? []).map((record) => ({
      key: record.PartitionKey!,
      text: Buffer.from(record.Data!).toString(),
      luck: this.next(),
    }));
    this.requests.push(records.length);
    if (records.some(({ luck }) => luck === 'request-fails')) throw new Error('injected: socket hang up');
    const taken = records.filter(({ luck }) => luck !== 'refused');
    this.stored.push(...taken.map(({ key, text }) => ({ key, text })).toReversed());
    if (records.some(({ luck }) => luck === 'answer-lost')) throw new Error('injected: timed out');
    return {
      FailedRecordCount: records.length - taken.length,
      Records: records.map(({ luck }) =>
        luck === 'refused'
          ? { ErrorCode: 'ProvisionedThroughputExceededException', SequenceNumber: null }
          : { SequenceNumber: '1', ErrorCode: null },
      ),
    };
  }

  private next(): Luck {
    const next = this.luck.next();
    return next.done === true ? 'taken' : next.value;
  }
}

const numbered = (keys: readonly string[]): Message[] =>
  keys.map((key, index) => ({ key, text: `${index}` }));
const withoutRepetitions = (texts: readonly string[]): string[] =>
  texts.filter((text, index) => text !== texts[index - 1]);

describe('publishing', () => {
  it('keeps the order of each key, whatever is refused or lost', async () => {
    const keys = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 });
    const luck = fc.array(
      fc.constantFrom<Luck>('taken', 'taken', 'taken', 'refused', 'request-fails', 'answer-lost'),
      { maxLength: 60 },
    );
    let finished = 0;
    await fc.assert(
      fc.asyncProperty(keys, luck, async (given, lucks) => {
        const stream = new UnluckyStream(lucks);
        const messages = numbered(given);
        const isDone = await stream
          .publisher()
          .publish(messages)
          .then(
            () => true,
            () => false,
          );
        if (isDone) finished += 1;
        for (const key of new Set(given)) {
          const wanted = messages.filter((message) => message.key === key).map(({ text }) => text);
          const found = withoutRepetitions(stream.of(key));
          expect(found).toEqual(isDone ? wanted : wanted.slice(0, found.length));
        }
      }),
      { numRuns: 300 },
    );
    // Had most of them been given up, little would have been shown.
    expect(finished).toBeGreaterThan(150);
  });

  it('sends what has different keys together', async () => {
    const stream = new UnluckyStream([]);
    await stream.publisher().publish(numbered(Array.from({ length: 1_200 }, (_, index) => `key-${index}`)));
    expect(stream.requests).toEqual([500, 500, 200]);
    expect(stream.sleeps).toEqual([]);
  });

  it('fits its requests into five megabytes', async () => {
    const stream = new UnluckyStream([]);
    const text = 'x'.repeat(1_000_000);
    await stream.publisher().publish(Array.from({ length: 7 }, (_, index) => ({ key: `${index}`, text })));
    expect(stream.requests).toEqual([5, 2]);
  });

  it('waits longer each time, and gives up when a record is refused for the sixth time', async () => {
    const stream = new UnluckyStream(Array.from({ length: 6 }, (): Luck => 'refused'));
    await expect(stream.publisher().publish(numbered(['a', 'a']))).rejects.toThrow('does not take');
    expect(stream.requests).toEqual([1, 1, 1, 1, 1, 1]);
    expect(stream.sleeps).toEqual([100, 200, 400, 800, 1_600]);
    expect(stream.stored).toEqual([]);
  });

  it('begins to count anew with each record that is taken', async () => {
    const five = Array.from({ length: 5 }, (): Luck => 'refused');
    const stream = new UnluckyStream([...five, 'taken', ...five, 'taken']);
    await stream.publisher().publish(numbered(['a', 'a']));
    expect(stream.of('a')).toEqual(['0', '1']);
  });

  it('asks nobody when there is nothing to send', async () => {
    const stream = new UnluckyStream([]);
    await stream.publisher().publish([]);
    expect(stream.requests).toEqual([]);
  });
});
