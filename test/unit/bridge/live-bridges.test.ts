import { describe, expect, it } from 'vitest';
import { LiveBridges } from '../../../src/app/bridge/live-bridges.ts';
import type { Attendance, SignOfLife } from '../../../src/ports/attendance.ts';
import { ManualTimer } from '../lock/manual-timer.ts';

const DEAD_AFTER_MS = 1_000;

function hall() {
  const signs = new Map<string, SignOfLife>();
  const attendance: Attendance = {
    sign: async (_, sign) => void signs.set(sign.bridgeId, sign),
    list: async () => [...signs.values()],
    remove: async (_, { bridgeId, beat }) => {
      if (signs.get(bridgeId)?.beat === beat) signs.delete(bridgeId);
    },
  };
  const timer = new ManualTimer();
  const bridge = (bridgeId: string) =>
    new LiveBridges({ attendance, stream: 's', bridgeId, timer, deadAfterMs: DEAD_AFTER_MS });
  return { signs, timer, bridge };
}

describe('the bridges of a stream', () => {
  it('are counted from their first sign on', async () => {
    const { bridge } = hall();
    const [one, other] = [bridge('one'), bridge('other')];
    expect(await one.attend()).toBe(1);
    expect(await other.attend()).toBe(2);
    expect(await one.attend()).toBe(2);
  });

  it('are counted no longer when their sign has not changed for a while', async () => {
    const { bridge, timer, signs } = hall();
    const [one, other] = [bridge('one'), bridge('other')];
    await other.attend();
    await one.attend();
    await timer.advance(DEAD_AFTER_MS - 1);
    expect(await one.attend()).toBe(2);
    await timer.advance(1);
    expect(await one.attend()).toBe(1);
    expect([...signs.keys()]).toEqual(['one']);
    await other.attend();
    expect(await one.attend()).toBe(2);
  });

  it('are counted as long as they give signs, however slow', async () => {
    const { bridge, timer } = hall();
    const [one, other] = [bridge('one'), bridge('other')];
    for (let round = 0; round < 5; round += 1) {
      await other.attend();
      expect(await one.attend()).toBe(2);
      await timer.advance(DEAD_AFTER_MS * 0.9);
    }
  });

  it('are counted no longer when they have left', async () => {
    const { bridge } = hall();
    const [one, other] = [bridge('one'), bridge('other')];
    await other.attend();
    await one.attend();
    await other.leave();
    expect(await one.attend()).toBe(1);
  });
});
