import { afterEach, describe, expect, it } from 'vitest';
import { NO_LOG } from '../../../src/adapters/logging/logger.ts';
import type { HttpServer } from '../../../src/adapters/http-server.ts';
import { openMetricsServer } from '../../../src/adapters/metrics/metrics-server.ts';
import type { Health, HealthReport } from '../../../src/ports/health.ts';
import { notedLog } from '../../support/noted-log.ts';

describe('the metrics server', () => {
  const metrics = { text: async () => 'figures 1\n', contentType: 'text/plain; version=0.0.4' };
  const health: Health = async () => ({ status: 'ready', checks: {} });
  let server: HttpServer | undefined;
  afterEach(() => server?.close());

  const open = async (options: Partial<Parameters<typeof openMetricsServer>[0]> = {}) => {
    server = await openMetricsServer({
      port: 0,
      host: '127.0.0.1',
      metrics,
      health,
      log: NO_LOG,
      ...options,
    });
    return server;
  };
  const get = async (path: string, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${server?.port}${path}`, { method });
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      text: await response.text(),
    };
  };

  it('answers the figures, with or without a query', async () => {
    await open();
    const figures = { status: 200, type: 'text/plain; version=0.0.4', text: 'figures 1\n' };
    expect(await get('/metrics')).toEqual(figures);
    expect(await get('/metrics?now=1')).toEqual(figures);
  });

  it('says that it cannot read them, and why in the log', async () => {
    const { log, lines } = notedLog();
    const why = new Error('Redis is away');
    await open({ log, metrics: { ...metrics, text: () => Promise.reject(why) } });
    expect((await get('/metrics')).status).toBe(500);
    expect(lines).toMatchObject([{ level: 'warn', fields: { err: why } }]);
  });

  it.each([
    ['ready', 200],
    ['degraded', 200],
    ['not ready', 503],
  ] as const)('lives, and tells of what it leans on: %s', async (status, code) => {
    const report: HealthReport = { status, checks: { redis: 'up', dynamodb: 'down' } };
    await open({ health: async () => report });
    const type = 'application/json; charset=utf-8';
    expect(await get('/health/live')).toEqual({ status: 200, type, text: '{"status":"live"}' });
    expect(await get('/health/ready')).toEqual({ status: code, type, text: JSON.stringify(report) });
  });

  it('knows nothing else', async () => {
    await open();
    for (const path of ['/', '/metrics/x', '/health']) expect((await get(path)).status).toBe(404);
    expect((await get('/metrics', 'POST')).status).toBe(404);
  });

  it('closes although a question is under way, and frees the port', async () => {
    let asked = (): void => undefined;
    const underWay = new Promise<void>((resolve) => (asked = resolve));
    const { port, close } = await open({
      health: () => {
        asked();
        return new Promise<never>(() => undefined);
      },
    });
    const hanging = get('/health/ready').catch(() => 'cut off');
    await underWay;
    await close();
    expect(await hanging).toBe('cut off');
    server = undefined;
    await expect(fetch(`http://127.0.0.1:${port}/metrics`)).rejects.toThrow('fetch failed');
    await open({ port });
  });

  it('refuses to start on a port that is taken', async () => {
    const { port } = await open();
    await expect(
      openMetricsServer({ port, host: '127.0.0.1', metrics, health, log: NO_LOG }),
    ).rejects.toThrow(/EADDRINUSE/);
  });
});
