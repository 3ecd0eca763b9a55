import { join } from 'node:path';

export type ServerName = 'redis' | 'dynamodb' | 'kinesis';

/** Where everything lies under the data folder. README.md of this room explains each. */
export function dataFolder(dataDir: string) {
  return {
    path: dataDir,
    owners: join(dataDir, 'owners'),
    stackFile: join(dataDir, 'stack.json'),
    logs: join(dataDir, 'logs'),
    storeOf: (server: ServerName): string => join(dataDir, server),
    logOf: (program: ServerName | 'guard'): string => join(dataDir, 'logs', `${program}.log`),
  };
}

export type DataFolder = ReturnType<typeof dataFolder>;
