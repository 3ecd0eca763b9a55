import type { TableDefinition } from '../../src/adapters/dynamodb/tables.ts';
import { tableDefinitions } from '../../src/adapters/dynamodb/tables.ts';
import { tableNames } from '../../src/cli/make-tables.ts';
import { readConfig } from '../../src/config/read-config.ts';
import * as sections from '../../src/config/sections.ts';
import { code, tableOf } from './blocks.ts';

/** The tables as they are called where nothing is configured. */
export function storeTable(): string {
  const { dynamodb } = readConfig({}, { dynamodb: sections.dynamodb });
  const names = { ...tableNames(dynamodb), floats: '{ENVIRONMENT}-float-service' };
  return tableOf(
    ['table', 'key', 'indexes', 'TTL', 'stream'],
    tableDefinitions(names).map((table) => [
      code(table.name),
      keyOf(table.key),
      table.indexes.map(indexOf).join('<br>'),
      table.ttl === undefined ? '' : code(table.ttl),
      table.stream === true ? 'yes' : '',
    ]),
  );
}

const keyOf = (key: TableDefinition['key']): string =>
  key.flatMap((name) => (name === undefined ? [] : code(name))).join(' + ');

function indexOf({ name, key, holds, added }: TableDefinition['indexes'][number]): string {
  const held = holds === undefined ? '' : `, with ${holds.map(code).join(' ')}`;
  return `${code(name)}: ${keyOf(key)}${held}${added === true ? ' (`--add-index`)' : ''}`;
}
