import { connect } from 'node:net';
import type { Server } from './server.ts';

/** Every option is on the command line: without a file argument Redis reads no configuration of the machine. */
export function redis(options: { readonly program: string; readonly store: string }): Server {
  return {
    name: 'redis',
    command: (port) => ({
      file: options.program,
      args: [
        ...['--port', String(port), '--bind', '127.0.0.1', '--protected-mode', 'yes', '--daemonize', 'no'],
        ...['--dir', options.store, '--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''],
        // Eviction would silently lose jobs.
        ...['--maxmemory-policy', 'noeviction'],
      ],
    }),
    answers: ping,
  };
}

/** While it still loads its file Redis accepts connections and answers `-LOADING`, which is not yet an answer. */
function ping(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const settle = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(2_000, () => settle(false));
    socket.once('error', () => settle(false));
    socket.once('data', (reply) => settle(reply.toString().startsWith('+PONG')));
    socket.once('connect', () => socket.write('PING\r\n'));
  });
}
