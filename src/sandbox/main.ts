import { accessSync, constants, mkdirSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pino, type Logger } from 'pino';
import { Bank } from './bank.ts';
import { Books } from './books.ts';
import { kinesisStream } from './callbacks/callback-stream.ts';
import { configFrom, type SandboxConfig } from './config.ts';
import { sandboxApp } from './http/app.ts';
import { ownFolder } from './ledger/folder-owner.ts';
import { LedgerFile } from './ledger/ledger-file.ts';

/** Longer than what clients keep idle connections for, so that they, not we, close them. */
const KEEP_ALIVE_MS = 65_000;

const notReadyYet: RequestListener = (_req, res) => {
  const body = { type: 'about:blank', status: 503, code: 'starting', detail: 'the ledger is being read' };
  res.writeHead(503, { 'content-type': 'application/problem+json', 'retry-after': '1' });
  res.end(JSON.stringify(body));
};

function refuseUnwritable(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown reason';
    throw new Error(`SANDBOX_DATA_DIR ${folder} cannot be written: ${reason}`, { cause: error });
  }
}

function listen(server: Server, { port, host }: SandboxConfig): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const { port: bound } = server.address() as AddressInfo;
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${bound}`);
    });
  });
}

async function openBank(config: SandboxConfig, log: Logger): Promise<Bank> {
  const books = new Books();
  const ledger = await LedgerFile.open(join(config.dataDir, 'ledger.jsonl'), (entry) => books.apply(entry));
  const { kinesisEndpoint: endpoint, region, paymentsStream: name } = config;
  const stream =
    endpoint === undefined ? undefined : await kinesisStream({ endpoint, region, name }, process.env);
  return new Bank(ledger, books, stream, log);
}

/** Stops once, whoever asks first: a signal, or the parent's end. The sandbox never outlives who started it. */
function stopWhenAsked(log: Logger, stopAll: () => Promise<void>): void {
  let stopping = false;
  const stop = (reason: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ reason }, 'sandbox stopping');
    void stopAll().finally(() => process.exit(0));
  };
  process.once('SIGTERM', () => stop('SIGTERM'));
  process.once('SIGINT', () => stop('SIGINT'));
  process.once('disconnect', () => stop('parent gone'));
}

async function main(): Promise<void> {
  const config = configFrom(process.env);
  const log = pino({ name: 'sandbox', level: config.logLevel });
  refuseUnwritable(config.dataDir);
  let handle: RequestListener = notReadyYet;
  const opened: { bank?: Bank } = {};
  const server = createServer((req, res) => handle(req, res));
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  stopWhenAsked(log, async () => {
    server.close();
    server.closeAllConnections();
    await opened.bank?.stop();
  });
  // Port and folder before the ledger: a second sandbox on either must stop before it touches the file.
  const url = await listen(server, config);
  await ownFolder(config.dataDir);
  const bank = await openBank(config, log);
  opened.bank = bank;
  handle = sandboxApp(bank, log);
  bank.start();
  const callbacks = bank.publisher.report();
  log.info({ url, entries: bank.ledger.lastSeq, callbacks }, 'sandbox listening');
  if (process.connected) process.send?.({ type: 'listening', url });
}

main().catch((error: unknown) => {
  process.stderr.write(`sandbox: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
