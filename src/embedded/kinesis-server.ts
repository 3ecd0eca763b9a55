/* The Kinesis process: `node kinesis-server.js PORT [STORE [HOST]]`; without a store it keeps everything in memory. */
import kinesalite from 'kinesalite';

const [port, store, host = '127.0.0.1'] = process.argv.slice(2);

/**
 * Kinesalite flips a stream to ACTIVE by a timer in its own memory: one that is killed before leaves the stream CREATING for
 * ever. So the delay is as short as it can be.
 */
const transitionMs = 1;

const server = kinesalite({
  ...(store === undefined ? {} : { path: store }),
  createStreamMs: transitionMs,
  deleteStreamMs: transitionMs,
  updateStreamMs: transitionMs,
  shardLimit: 1_000,
});

server.listen(Number(port), host);

let ending = false;

process.on('SIGTERM', () => {
  ending = true;
  server.close(() => process.exit(0));
  // Idle keep-alive connections would hold the close up.
  server.closeAllConnections();
});
// Ctrl-C is the parent's business.
process.on('SIGINT', () => undefined);
process.on('SIGHUP', () => undefined);

/** Kinesalite rethrows when a client hangs up in the middle of a request, as a killed worker does. That is no reason to die. */
process.on('uncaughtException', (error: NodeJS.ErrnoException) => {
  process.stderr.write(`${error.stack ?? error.message}\n`);
  if (ending) process.exit(0);
  if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') process.exit(1);
});
