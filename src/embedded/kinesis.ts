import { fileURLToPath } from 'node:url';
import { answersAwsCall } from './aws-call.ts';
import type { Server } from './server.ts';

/** Kinesalite in a process of its own: it throws where others answer with an error, and must not take the guard along. */
export function kinesis(options: { readonly store: string; readonly inMemory: boolean }): Server {
  return {
    name: 'kinesis',
    command: (port) => ({
      file: process.execPath,
      args: [
        fileURLToPath(new URL('./kinesis-server.js', import.meta.url)),
        String(port),
        ...(options.inMemory ? [] : [options.store]),
      ],
    }),
    answers: (port) => answersAwsCall(port, 'Kinesis_20131202.ListStreams'),
  };
}
