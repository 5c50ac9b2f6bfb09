/** Requests of the users of a soak, counted. After an answer that was cut off by a kill it waits for the next server. */
import { connect } from 'node:net';
import { Agent, request } from 'undici';
import { tokenOf } from './server.mjs';

/** The server was killed under a request: its scenario is over. */
export class CutOff extends Error {}

/** A promise that is fulfilled from outside. */
function openPromise() {
  let resolve;
  const promise = new Promise((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

export function createClient(server) {
  const dispatcher = new Agent({ connections: 64, keepAliveTimeout: 4_000 });
  const statuses = new Map();
  const surprises = [];
  let done = 0;
  let underWay = 0;
  let surprised = 0;
  let paused;

  const count = (status) => {
    done += 1;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  };

  /** Nothing begins while the server is away. */
  async function counted(work) {
    while (paused) await paused.promise;
    underWay += 1;
    try {
      const answer = await work();
      count(answer.status);
      return answer;
    } catch (error) {
      if (!paused && server.isRunning()) throw error;
      count('cut off');
      throw new CutOff();
    } finally {
      underWay -= 1;
      paused?.settle();
    }
  }

  /** `ask('ann', 'POST /v1/sessions', {…})`; a text as the body is sent as it is. */
  const ask = (user, line, body, headers = {}) =>
    counted(async () => {
      const [method, path] = line.split(' ');
      const response = await request(`${server.url()}${path}`, {
        dispatcher,
        method,
        headers: {
          ...(user === undefined ? {} : { authorization: `Bearer ${tokenOf(user)}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.body.text();
      const isJson = String(response.headers['content-type']).includes('application/json');
      return { status: response.statusCode, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} };
    });

  /** Bytes as they are; the answer is not read for so long, then the connection breaks off. */
  const leave = (text, milliseconds) =>
    counted(
      () =>
        new Promise((settle, fail) => {
          const socket = connect(server.port(), '127.0.0.1', () => socket.write(text));
          const end = setTimeout(() => {
            socket.destroy();
            settle({ status: 'left' });
          }, milliseconds);
          socket.pause();
          socket.on('error', (error) => {
            clearTimeout(end);
            // That the server ends a broken request is an answer.
            if (server.isRunning() && !paused) settle({ status: 'left' });
            else fail(error);
          });
        }),
    );

  return {
    ask,
    leave,
    done: () => done,
    statuses: () => Object.fromEntries([...statuses].sort(([one], [other]) => (String(one) < String(other) ? -1 : 1))),
    /** What must not be, told at the end. */
    expect(isSo, what, answer) {
      if (isSo) return;
      surprised += 1;
      if (surprises.length === 10) return;
      surprises.push(`${what}: ${answer?.status} ${answer?.text?.slice(0, 300)}`);
      process.stderr.write(`not so: ${surprises.at(-1)}\n`);
    },
    surprises: () => ({ count: surprised, first: surprises }),
    /** @returns when every answer that is still to come has come. */
    async pause(work) {
      const waiting = openPromise();
      const settled = openPromise();
      paused = { promise: waiting.promise, settle: () => underWay === 0 && settled.resolve() };
      const result = await work(() => {
        paused.settle();
        return settled.promise;
      });
      paused = undefined;
      waiting.resolve();
      return result;
    },
    close: () => dispatcher.destroy(),
  };
}
