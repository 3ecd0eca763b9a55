import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** A loopback port that is free now. Another process may take it before it is used: whoever uses it tries again. */
export const freePort = (): Promise<number> => tried({ port: 0, host: '127.0.0.1' });

/** A port that people know, unless somebody has it: then any other. */
export const preferredPort = (port: number): Promise<number> => tried({ port }).catch(freePort);

async function tried(place: { readonly port: number; readonly host?: string }): Promise<number> {
  const probe = createServer().listen(place);
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
