import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** A way to a real server that can be cut and opened again, at the same address. */
export interface TcpGate {
  readonly url: string;
  cut(): Promise<void>;
  open(): Promise<void>;
  /** The server hangs: whoever asks is connected and gets no answer. */
  hang(): void;
  /** How many have come since it hangs, and wait. */
  waiting(): number;
  /** … and goes on: whoever has come since is served. */
  goOn(): void;
}

export async function tcpGate(target: string): Promise<TcpGate> {
  const to = new URL(target);
  const sockets = new Set<Socket>();
  const waiting = new Set<Socket>();
  let hangs = false;
  const serve = (near: Socket): void => {
    const far = connect(Number(to.port), to.hostname);
    sockets.add(far);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.pipe(other);
      one.on('error', () => undefined);
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  };
  const server = createServer((near) => {
    sockets.add(near);
    near.on('error', () => undefined).on('close', () => waiting.delete(near));
    if (hangs) waiting.add(near);
    else serve(near);
  });
  const listen = async (port: number): Promise<void> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `${to.protocol}//127.0.0.1:${port}`,
    async cut() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    open: () => listen(port),
    hang() {
      hangs = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    waiting: () => waiting.size,
    goOn() {
      hangs = false;
      for (const near of waiting) serve(near);
      waiting.clear();
    },
  };
}
