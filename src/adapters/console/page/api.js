/** The page's client of the HTTP API. A failure is a value: a problem document, or a substitute if none arrived. */

/** @import { Problem } from '../../http/problem.ts' */

/** `code`: one of the API, or `unreachable`, `cut`, `stopped`. @typedef {Pick<Problem, 'detail' | 'issues'> & {code: string}} Failure */
/** @template T @typedef {{ok: true, value: T} | {ok: false, failure: Failure}} Answer */
/** @typedef {{token: string, name: string}} Proof */
/** @typedef {{body?: unknown, signal?: AbortSignal, onEvent?: (event: unknown) => void}} AskOptions */

const KEPT = 'winnow-console';
const JSON_TYPE = { 'content-type': 'application/json' };

/** @param {string} code @returns {{ok: false, failure: Failure}} */
const failed = (code, detail = '') => ({ ok: false, failure: { code, detail, issues: [] } });

/**
 * A proxy in front of the server may answer errors in its own form.
 * @param {unknown} value @param {Response} response @returns {{ok: false, failure: Failure}}
 */
function refused(value, { status, statusText }) {
  const { code, detail, issues } = Object(value);
  if (typeof code !== 'string' || typeof detail !== 'string' || !Array.isArray(issues))
    return failed('no_problem', `${status} ${statusText}`.trim());
  return { ok: false, failure: { code, detail, issues } };
}

/** Keeps the proof until the tab closes. */
export function createApi() {
  let proof = readProof();
  let standing = /** @type {Answer<unknown> | undefined} */ (undefined);

  /**
   * @param {string} line For example `POST v1/plan`; relative, so that a proxy may put the server below a path.
   * @param {AskOptions} options
   */
  async function send(line, { body, signal, onEvent }) {
    const [method = 'GET', path = ''] = line.split(' ');
    const headers = {
      ...(body === undefined ? {} : JSON_TYPE),
      ...(onEvent ? { accept: 'text/event-stream' } : {}),
      ...(proof.token ? { authorization: `Bearer ${proof.token}` } : {}),
    };
    return fetch(path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  }

  return {
    get proof() {
      return proof;
    },

    /** @param {Proof} given Without a token: signed out. */
    prove(given) {
      [proof, standing] = [given, undefined];
      sessionStorage.setItem(KEPT, JSON.stringify(given));
    },

    /** What the server says to the token: its failure where it refuses it, or can't be asked. Undefined: not known yet. */
    get standing() {
      return standing;
    },

    /** @param {string} line One that every caller may ask. */
    async checkProof(line) {
      const asked = proof;
      if (asked.token === '') return;
      const answer = await this.ask(line);
      // Meanwhile another token may have been given.
      if (asked === proof) standing = answer;
    },

    /**
     * `onEvent` receives events while the server works.
     * @template T @param {string} line @param {AskOptions} [options] @returns {Promise<Answer<T>>}
     */
    async ask(line, options = {}) {
      try {
        const response = await send(line, options);
        const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
        if (isStream && response.body) return await readStream(response.body, options.onEvent ?? (() => {}));
        const value = await response.json();
        return response.ok ? { ok: true, value } : refused(value, response);
      } catch (error) {
        if (options.signal?.aborted) return failed('stopped');
        return error instanceof SyntaxError ? failed('cut', error.message) : failed('unreachable');
      }
    },
  };
}

/** @typedef {ReturnType<typeof createApi>} Api */

/** @template T @typedef {{readonly value: T | undefined, readonly failure: Failure | undefined, read(): Promise<void>}} Reading */

/**
 * One answer that a page shows: read when the page opens, and gone if it can't be read.
 * @template T @param {Pick<import('./app.js').Console, 'api' | 'update'>} console @param {() => string} lineOf @returns {Reading<T>}
 */
export function createReading({ api, update }, lineOf) {
  let answer = /** @type {Answer<T> | undefined} */ (undefined);
  return {
    get value() {
      return answer?.ok ? answer.value : undefined;
    },
    get failure() {
      return answer?.ok === false ? answer.failure : undefined;
    },
    async read() {
      const line = lineOf();
      const read = /** @type {Answer<T>} */ (await api.ask(line));
      // Meanwhile the page may have asked for something else.
      if (line === lineOf()) answer = read;
      update();
    },
  };
}

/** @returns {Proof} */
function readProof() {
  const { token = '', name = '' } = JSON.parse(sessionStorage.getItem(KEPT) ?? '{}');
  return { token, name };
}

/** @param {ReadableStream<Uint8Array>} body @param {(event: unknown) => void} onEvent @returns {Promise<Answer<any>>} */
async function readStream(body, onEvent) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const blocks = `${text}${decoder.decode(part.value, { stream: true })}`.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, event, data = ''] = /^event: (.*)\ndata: (.*)$/u.exec(block) ?? [];
      if (event === undefined) continue;
      const value = JSON.parse(data);
      if (event === 'result') return { ok: true, value };
      if (event === 'error') return { ok: false, failure: value };
      onEvent(value);
    }
  }
  return failed('cut');
}
