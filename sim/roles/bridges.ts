import { Bridge } from '../../src/app/bridge/bridge.ts';
import { receiveEvents } from '../../src/app/bridge/receive-events.ts';
import { EVENT_STREAMS } from '../../src/ports/inbox.ts';
import { SimQueueSet } from '../world/sim-queues.ts';
import type { StartRole } from './role.ts';
import { simStores } from './role.ts';
import { BRIDGE_PACE, SETTINGS } from './settings.ts';

export const startBridges: StartRole = (world, process) => {
  const stores = simStores(world, process);
  const queues = new SimQueueSet(world.wire(process, 'fail'));
  const random = world.random(`bridge ${process.name}`);
  const log = world.log(process);
  const received = {
    inbox: stores.inbox,
    clock: process.clock,
    owned: SETTINGS.ownership.OWNED_USERS,
    enqueue: queues.addEvents.bind(queues),
    count: () => undefined,
    log,
  };
  for (const stream of EVENT_STREAMS) {
    new Bridge({
      ...stores,
      stream,
      source: world.streams[stream].source((apply) => world.callStream(process, apply)),
      beginning: 'start',
      deliver: receiveEvents(received, stream),
      bridgeId: `${process.name}-${stream}`,
      times: BRIDGE_PACE,
      timer: process.timer,
      random: () => random.next(),
      log,
      onLag: () => undefined,
    });
  }
};
