import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a socket says of the process behind it. `unclear`: it may be on its way out, ask again. */
type Sign = 'gone' | 'claiming' | 'owner' | 'unclear';

interface Place {
  readonly folder: string;
  readonly prefix: string;
}

/** The shortest limit of the systems we run on is 104 bytes (macOS), with the zero at the end. */
const LONGEST_SOCKET_PATH = 103;
const SUFFIX = '.sock';
const ID_BYTES = 6;
/** Who takes a connection lives, also when he is too busy to say so in this time. */
const ANSWER_MS = 5000;
const PATIENCE_MS = 15_000;
const PAUSE_MS = 20;
const GONE: readonly unknown[] = ['ECONNREFUSED', 'ENOENT'];

/** Thrown when another process lives in the folder. Nothing in the folder was touched. */
export class FolderInUseError extends Error {
  constructor(folder: string) {
    super(
      `SANDBOX_DATA_DIR ${folder} is in use by another sandbox; stop that one, or give this one a folder of its own`,
    );
  }
}

/** In the folder itself, so that it also works between containers; elsewhere only when the path would be too long. */
function placeFor(dataDir: string): Place {
  const folder = realpathSync(dataDir);
  const longest = join(folder, `owner-${'0'.repeat(2 * ID_BYTES)}${SUFFIX}`);
  if (Buffer.byteLength(longest) <= LONGEST_SOCKET_PATH) return { folder, prefix: 'owner-' };
  const hash = createHash('sha256').update(folder).digest('hex').slice(0, 16);
  return { folder: tmpdir(), prefix: `sandbox-${hash}-` };
}

function signIn(text: string): Sign {
  return text === 'owner' || text === 'claiming' ? text : 'unclear';
}

function ask(path: string): Promise<Sign> {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    let said = '';
    const done = (sign: Sign) => {
      socket.destroy();
      resolve(sign);
    };
    socket.setEncoding('utf8').on('data', (text: string) => (said += text));
    socket.setTimeout(ANSWER_MS, () => done('owner'));
    socket.once('end', () => done(signIn(said)));
    socket.once('error', (error: NodeJS.ErrnoException) =>
      done(GONE.includes(error.code) ? 'gone' : 'unclear'),
    );
  });
}

/**
 * One process's claim to the folder: a socket under a name that nobody else ever uses. The system closes it with the
 * process, however that ends, and a dead one can be removed without hitting a living one that took its name.
 */
class Claim {
  readonly #name: string;
  readonly #place: Place;
  readonly #server: Server;
  #sign: Sign = 'claiming';

  constructor(place: Place) {
    this.#place = place;
    this.#name = `${place.prefix}${randomBytes(ID_BYTES).toString('hex')}${SUFFIX}`;
    this.#server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.end(this.#sign);
    });
    // Held for the life of the process, but no reason for it to live on.
    this.#server.unref();
  }

  get #path(): string {
    return join(this.#place.folder, this.#name);
  }

  announce(): Promise<void> {
    // Only a kill leaves the socket behind, for the next start to remove.
    process.once('exit', () => rmSync(this.#path, { force: true }));
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#path, resolve);
    });
  }

  won(): void {
    this.#sign = 'owner';
  }

  withdraw(): void {
    this.#server.close();
    rmSync(this.#path, { force: true });
  }

  /** Everybody announces before he looks: of two, at least the second one sees the first. */
  async look(): Promise<'won' | 'lost' | 'again'> {
    const { folder, prefix } = this.#place;
    const names = readdirSync(folder).filter((name) => name.startsWith(prefix) && name.endsWith(SUFFIX));
    const rivals = names.filter((name) => name !== this.#name);
    const verdicts = await Promise.all(rivals.map((name) => this.#against(name)));
    // Without our socket, taken for dead in the moment before we listened, whoever comes next would not see us.
    if (verdicts.includes('lost') || !existsSync(this.#path)) return 'lost';
    return verdicts.includes('again') ? 'again' : 'won';
  }

  async #against(rival: string): Promise<'won' | 'lost' | 'again'> {
    const path = join(this.#place.folder, rival);
    const sign = await ask(path);
    if (sign === 'gone') {
      rmSync(path, { force: true });
      return 'won';
    }
    // Of two that claim at the same time the smaller name stays, and waits until the other one has seen that.
    return sign === 'owner' || (sign === 'claiming' && rival < this.#name) ? 'lost' : 'again';
  }
}

async function settle(claim: Claim): Promise<boolean> {
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline) {
    const verdict = await claim.look();
    if (verdict !== 'again') return verdict === 'won';
    await sleep(PAUSE_MS);
  }
  return false;
}

/** Makes this process the only one on the folder until it ends, or throws a `FolderInUseError`. */
export async function ownFolder(dataDir: string): Promise<void> {
  const claim = new Claim(placeFor(dataDir));
  await claim.announce();
  if (await settle(claim)) return claim.won();
  claim.withdraw();
  throw new FolderInUseError(dataDir);
}
