import { once } from 'node:events';
import { connect } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import type { Planner } from '../../src/core/planner.js';
import { ASKED, answeringPlanner, createHangingModel, plannerOf, portOf, post, startServer } from './setup.js';

/** Waits with `plan` until it is let go. */
function createHeldPlanner(onEnd?: () => void): { planner: Planner; asked: Promise<void>; letGo(): void } {
  const free = answeringPlanner();
  let begin: () => void = () => {};
  let letGo: () => void = () => {};
  const asked = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const planner: Planner = {
    ...free,
    async plan(request, call) {
      begin();
      await held;
      const result = await free.plan(request, call);
      onEnd?.();
      return result;
    },
  };
  return { planner, asked, letGo: () => letGo() };
}

describe('close()', () => {
  it('lets a running request end, refuses new ones, and only then closes the model', async () => {
    const order: string[] = [];
    const { planner, asked, letGo } = createHeldPlanner(() => order.push('answered'));
    const onClose = async () => void order.push('model closed');
    const { app, url } = await startServer({ planner, onClose });
    const running = post(`${url}/v1/plan`, ASKED);
    await asked;
    const closed = app.close();
    await expect(fetch(`${url}/readyz`)).rejects.toThrow('fetch failed');
    expect(order).toEqual([]);
    letGo();
    expect((await running).status).toBe(200);
    await closed;
    expect(order).toEqual(['answered', 'model closed']);
  });

  it('answers 503 to a request that comes on a connection of before', async () => {
    const { planner, asked, letGo } = createHeldPlanner();
    const { app, url } = await startServer({ planner });
    const running = post(`${url}/v1/plan`, ASKED);
    await asked;
    const opened = once(app.server, 'connection');
    const socket = connect(portOf(url), '127.0.0.1');
    await opened;
    const closed = app.close();
    await expect(fetch(`${url}/readyz`)).rejects.toThrow('fetch failed');
    socket.write('GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n');
    const text = await readAll(socket);
    expect(text).toMatch(/^HTTP\/1\.1 503 /);
    expect(text).toMatch(/\r\nconnection: close\r\n/i);
    expect(text).toMatch(/\r\nretry-after: 5\r\n/);
    expect(text).toContain('"detail":"The server is stopping."');
    letGo();
    expect((await running).status).toBe(200);
    await closed;
  });

  it.each(['application/json', 'text/event-stream'])(
    'cancels at the limit what still runs, and says so (%s)',
    async (accept) => {
      const { model, asked, cancelled } = createHangingModel();
      const { app, url } = await startServer({ planner: plannerOf(model), options: { stopTimeoutMs: 10 } });
      const running = post(`${url}/v1/plan`, ASKED, { headers: { accept } });
      await asked;
      const closed = app.close();
      expect(await cancelled).toBe('cancelled');
      expect(await (await running).text()).toContain('The server stopped before the answer was ready.');
      await closed;
    },
  );

  it('cuts connections whose request cannot be cancelled', async () => {
    const { planner, asked } = createHeldPlanner();
    const { app, url } = await startServer({ planner, options: { stopTimeoutMs: 10 } });
    const running = post(`${url}/v1/plan`, ASKED).catch((error: Error) => error.message);
    await asked;
    await app.close();
    expect(await running).toBe('fetch failed');
  });
});
