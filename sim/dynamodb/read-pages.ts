import type { QueryCommandInput, ScanCommandInput } from '@aws-sdk/client-dynamodb';
import { invalid } from './errors.ts';
import type { KeyRange } from './key-condition.ts';
import { keyRange } from './key-condition.ts';
import { Page } from './page.ts';
import { parseCondition } from './parse-condition.ts';
import { isBefore, type Place } from './sorted-list.ts';
import { startOf, type Start } from './start-key.ts';
import type { Store } from './store.ts';
import { scanPlace, segmentOf, type Entry, type Partition } from './view.ts';

export function query(store: Store, input: QueryCommandInput): object {
  const page = new Page(store.table(input.TableName), input);
  if (input.KeyConditionExpression === undefined)
    throw invalid('Either the KeyConditions or KeyConditionExpression parameter must be specified');
  const { meaning } = parseCondition(input.KeyConditionExpression);
  const range = keyRange(meaning, page.view.schema, page.bindings);
  const start = startOf(page, input.ExclusiveStartKey);
  checkStart(range, start);
  const entries = page.view.partition(range.partition)?.entries;
  if (input.ScanIndexForward === false)
    entries?.descend(isAfter(range, start?.place), (entry) => !range.isBelow(entry.key) && page.take(entry));
  else
    entries?.ascend(isEarlier(range, start?.place), (entry) => !range.isAbove(entry.key) && page.take(entry));
  page.endsAt(input.ScanIndexForward === false ? range.first : range.last);
  return page.answer();
}

function checkStart(range: KeyRange, start: Start | null): void {
  if (start === null) return;
  const isOutside =
    start.partition !== range.partition || range.isBelow(start.place.key) || range.isAbove(start.place.key);
  if (isOutside)
    throw invalid('The provided starting key is outside query boundaries based on provided conditions');
}

const isEarlier =
  (range: KeyRange, start: Place | undefined) =>
  (entry: Entry): boolean =>
    range.isBelow(entry.key) || (start !== undefined && !isBefore(start, entry));

const isAfter =
  (range: KeyRange, start: Place | undefined) =>
  (entry: Entry): boolean =>
    range.isAbove(entry.key) || (start !== undefined && !isBefore(entry, start));

export function scan(store: Store, input: ScanCommandInput): object {
  const page = new Page(store.table(input.TableName), input);
  const start = startOf(page, input.ExclusiveStartKey);
  const from = start === null ? null : scanPlace(start.partition);
  const isOurs = inSegment(input);
  const isEarlierPartition = (partition: Partition): boolean => from !== null && isBefore(partition, from);
  page.view.partitions.ascend(isEarlierPartition, (partition) => {
    if (!isOurs(partition)) return true;
    const isFirst = start !== null && partition.partitionKey === start.partition;
    const isSeen = (entry: Entry): boolean => isFirst && !isBefore(start.place, entry);
    partition.entries.ascend(isSeen, page.take);
    return !page.isFull;
  });
  return page.answer();
}

function inSegment({ Segment, TotalSegments }: ScanCommandInput): (place: Place) => boolean {
  if (Segment === undefined && TotalSegments === undefined) return () => true;
  if (Segment === undefined || TotalSegments === undefined || Segment >= TotalSegments)
    throw invalid('The Segment parameter is required with TotalSegments, and must be less than it');
  return (place) => segmentOf(place, TotalSegments) === Segment;
}
