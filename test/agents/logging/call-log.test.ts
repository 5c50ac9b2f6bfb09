/** Records of calls and log lines, without secrets. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { propagation, SpanStatusCode, type TextMapPropagator, trace } from '@opentelemetry/api';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CallLogOptions, createCallLog, withCallLog } from '../../../src/agents/logging/call-log.js';
import { createLogger, failureFacts, type LogOptions } from '../../../src/agents/logging/logger.js';
import { WinnowError } from '../../../src/core/errors.js';
import type { CompletionRequest } from '../../../src/core/model/model.js';
import { traceHeaders, withSpan } from '../../../src/core/spans.js';
import { makeTool, naming, plannerOf, TOOLS } from '../../core/selection/setup.js';
import { recordSpans } from '../../support/record-spans.js';
import {
  createScriptedModel,
  type ScriptedAnswer,
  type ScriptedModel,
  type ScriptedModelOptions,
} from '../../support/scripted-model.js';

describe('the call log', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'winnow-call-log-'));
    file = join(folder, 'logs', 'calls.jsonl');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const REQUEST: CompletionRequest = {
    stage: 'planning',
    prompt: { system: 'You plan.', user: 'Log in with hunter2 please.' },
    maxTokens: 100,
    about: {
      module: 'planning/plan',
      promptName: 'plan',
      promptHash: 'abc123',
      variables: { message: 'Log in with hunter2 please.' },
      requestId: 'r1',
      session: 'chat-7',
    },
  };

  function logged(script: ScriptedModelOptions, options: Omit<CallLogOptions, 'destination'> = {}) {
    const bare: ScriptedModel = createScriptedModel({ id: 'model-1', ...script });
    return { bare, model: withCallLog(bare, createCallLog({ destination: file, ...options })) };
  }

  const text = () => readFileSync(file, 'utf8');
  const entries = () =>
    text()
      .trim()
      .split('\n')
      .map((line): Record<string, unknown> => JSON.parse(line));

  describe('the call log', () => {
    it('writes what was asked, what was answered and what it took, one line a call', async () => {
      const usage = { calls: 2, read: 30, cached: 10, written: 4 };
      const { model } = logged({ answers: [{ text: '{"steps": []}', usage }, 'second'] });
      await model.complete(REQUEST);
      await model.complete(REQUEST);
      expect(entries()).toHaveLength(2);
      expect(entries()[0]).toEqual({
        time: expect.any(String),
        requestId: 'r1',
        session: 'chat-7',
        model: 'model-1',
        stage: 'planning',
        module: 'planning/plan',
        promptName: 'plan',
        promptHash: 'abc123',
        variables: REQUEST.about?.variables,
        prompt: REQUEST.prompt,
        answer: '{"steps": []}',
        finish: 'stop',
        tokens: usage,
        milliseconds: expect.any(Number),
        outcome: 'ok',
      });
    });

    it('hands answers and errors through unchanged', async () => {
      const error = new WinnowError('model_timeout', 'Too slow.', { details: { usage: { calls: 1, read: 5 } } });
      const { model } = logged({ answers: ['yes', error] });
      expect(await model.complete(REQUEST)).toMatchObject({ text: 'yes', finish: 'stop' });
      await expect(model.complete(REQUEST)).rejects.toBe(error);
      expect(entries()[1]).toMatchObject({
        outcome: 'model_timeout',
        error: 'Too slow.',
        tokens: { calls: 1, read: 5, cached: 0, written: 0 },
      });
    });

    it('keeps the rest of the model: limits, tokens, way of answering, closing, and no reader where there is none', async () => {
      const { bare, model } = logged({ preferredAnswer: 'list' });
      expect([model.id, model.limits, model.preferredAnswer]).toEqual([bare.id, bare.limits, bare.preferredAnswer]);
      expect(model.countTokens('two words')).toBe(bare.countTokens('two words'));
      expect(model).not.toHaveProperty('openReader');
      await model.close();
      expect(bare.isClosed).toBe(true);
    });

    it('is off without a file: the model is the bare one', () => {
      const bare = createScriptedModel();
      expect(withCallLog(bare, createCallLog({ destination: 'off' }))).toBe(bare);
      expect(existsSync(file)).toBe(false);
    });

    it('is readable by its owner only, and appends', async () => {
      const { model } = logged({ answers: ['one'] });
      await model.complete(REQUEST);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const again = logged({ answers: ['two'] });
      await again.model.complete(REQUEST);
      expect(entries().map(({ answer }) => answer)).toEqual(['one', 'two']);
    });

    it.skipIf(process.platform === 'win32')('takes a file that is there already from other users, and says so', () => {
      const path = join(folder, 'old.jsonl');
      writeFileSync(path, '');
      chmodSync(path, 0o644);
      const notices: string[] = [];
      createCallLog({ destination: path, onNotice: (notice) => notices.push(notice) }).close();
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(notices).toEqual([expect.stringContaining('other users of this machine could read')]);
    });

    it.skipIf(process.platform === 'win32')('leaves what is no file as it is, such as a pipe or a device', () => {
      const path = join(folder, 'pipe');
      execFileSync('mkfifo', ['-m', '644', path]);
      const reader = openSync(path, 'r+');
      createCallLog({ destination: path }).close();
      closeSync(reader);
      expect(statSync(path).mode & 0o777).toBe(0o644);
    });

    it('tells at start when the file cannot be opened', () => {
      writeFileSync(join(folder, 'plain'), '');
      expect(() => createCallLog({ destination: join(folder, 'plain', 'x') })).toThrow(
        expect.objectContaining({ code: 'invalid_option' }),
      );
    });

    it('never fails a request: a log that was closed is no longer written', async () => {
      const log = createCallLog({ destination: file });
      const model = withCallLog(createScriptedModel({ answers: ['yes'] }), log);
      log.close();
      log.close();
      await expect(model.complete(REQUEST)).resolves.toMatchObject({ text: 'yes' });
      expect(text()).toBe('');
    });

    it('tells once of an entry that cannot be written', () => {
      const errors: unknown[] = [];
      const log = createCallLog({ destination: file, onError: (error) => errors.push(error) });
      log.write({ count: 1n });
      log.write({ count: 2n });
      log.write({ count: 3 });
      expect(errors).toHaveLength(1);
      expect(entries()).toEqual([{ count: 3 }]);
    });
  });

  describe('secrets in the call log', () => {
    const unlocking = (mark: object) => {
      const properties = { phrase: { type: 'string', ...mark }, door: { type: 'string' } };
      return makeTool('unlock_door', { inputSchema: { type: 'object', properties, required: ['phrase'] } });
    };
    const plan = (mark: object, answers: readonly ScriptedAnswer[], options = {}) => {
      const { model } = logged({ answers: [naming('unlock_door'), ...answers] }, options);
      return plannerOf({ tools: [unlocking(mark), ...TOOLS], model }).plan({ message: 'Unlock it with hunter2' });
    };
    const PLAN = '{"kind":"plan","steps":[{"id":"s1","tool":"unlock_door","arguments":{"phrase":"hunter2"}}]}';

    it.each([
      ['format password', { format: 'password' }],
      ['x-secret', { 'x-secret': true }],
      ['writeOnly', { writeOnly: true }],
    ])('leave all words out where a visible tool marks an argument by %s, and say why', async (_, mark) => {
      expect(await plan(mark, [PLAN])).toMatchObject({ kind: 'plan', steps: [{ arguments: { phrase: 'hunter2' } }] });
      expect(text()).not.toContain('hunter2');
      const [selection, planning] = entries();
      expect([selection, planning]).toMatchObject([{ stage: 'selection' }, { stage: 'planning' }]);
      for (const line of entries()) {
        expect(line).toMatchObject({ outcome: 'ok', leftOut: expect.stringContaining('callLogSecrets: true') });
        for (const words of ['prompt', 'variables', 'answer', 'error']) expect(line).not.toHaveProperty(words);
      }
    });

    it('leave out the text of an error, which may quote the request, but not its code', async () => {
      const error = new WinnowError('model_refused', 'Flagged: hunter2.');
      await expect(plan({ writeOnly: true }, [error])).rejects.toMatchObject({ message: error.message });
      expect(text()).not.toContain('hunter2');
      expect(entries()[1]).toMatchObject({ outcome: 'model_refused' });
    });

    it('leave nothing out where the operator asks for it, or no argument is marked', async () => {
      await plan({ writeOnly: true }, [PLAN], { includesSecrets: true });
      await plan({}, [PLAN]);
      expect(entries()).toHaveLength(4);
      for (const line of entries()) expect(JSON.stringify(line)).toContain('Unlock it with hunter2');
    });

    it('are masked when they are keys of the configuration, or look like keys', async () => {
      const answers = [new Error('refused key-42 and sk-abcdefgh12345678')];
      const { model } = logged({ answers }, { secrets: ['key-42'] });
      await expect(model.complete(REQUEST)).rejects.toThrow('key-42');
      expect(entries()[0]).toMatchObject({ error: 'refused [masked] and [masked]' });
    });
  });

  describe('readers in the call log', () => {
    const script = {
      readers: [
        {
          probabilities: new Map([
            ['get_user', 0.8],
            ['list', 0.2],
          ]),
        },
      ],
    };
    const request = { prompt: REQUEST.prompt, opening: '["', about: REQUEST.about };

    it('are one line each, written when they are closed', async () => {
      const { bare, model } = logged(script);
      const reader = await model.openReader?.(request);
      const [get = -1, list = -1] = ['get_user', 'list'].map((name) => reader?.tokenize(name)[0] ?? -1);
      const weights = await reader?.weigh([], [get, list]);
      expect(weights?.map((weight) => Number(Math.exp(weight).toFixed(3)))).toEqual([0.8, 0.2]);
      expect(text()).toBe('');
      await reader?.close({ names: ['get_user'] });
      expect(entries()).toMatchObject([
        {
          stage: 'selection',
          promptName: 'plan',
          outcome: 'ok',
          answer: { opening: '["', names: ['get_user'] },
          tokens: { calls: 1, read: 2 },
        },
      ]);
      bare.assertDone();
    });

    it('hold the names that selection ranked with their probabilities', async () => {
      const script = { play_song: 0.6, read_mail: 0.2, 'play_song", "water_garden': 0.05 };
      const { model } = logged({ readers: [{ probabilities: new Map(Object.entries(script)) }] });
      await plannerOf({ model }).select({ message: 'hm' });
      const { answer } = entries()[0] ?? {};
      expect(answer).toMatchObject({
        opening: '{"selected_tools": ["',
        readings: [
          {
            before: [],
            names: expect.arrayContaining([
              { name: 'play_song', probability: expect.closeTo(0.76, 2) },
              { name: 'read_mail', probability: expect.closeTo(0.24, 2) },
            ]),
          },
          {
            before: ['play_song'],
            names: expect.arrayContaining([{ name: 'water_garden', probability: expect.closeTo(1, 2) }]),
          },
        ],
      });
    });

    it('tell why they could not be opened, or failed', async () => {
      const { model } = logged({ readers: [new WinnowError('model_refused', 'No probabilities.'), ...script.readers] });
      await expect(model.openReader?.(request)).rejects.toMatchObject({ code: 'model_refused' });
      const controller = new AbortController();
      const reader = await model.openReader?.({ ...request, signal: controller.signal });
      controller.abort();
      await expect(reader?.weigh([], [])).rejects.toMatchObject({ code: 'cancelled' });
      await reader?.close();
      expect(entries().map(({ outcome }) => outcome)).toEqual(['model_refused', 'cancelled']);
    });
  });
});

function record(options: Omit<LogOptions, 'destination'>) {
  const lines: string[] = [];
  const logger = createLogger({ ...options, destination: { write: (line) => lines.push(line) } });
  return { logger, lines, parsed: () => lines.map((line): Record<string, unknown> => JSON.parse(line)) };
}

describe('the logger', () => {
  it('writes one JSON line a message, with time and level by name', () => {
    const { logger, lines, parsed } = record({ level: 'info' });
    logger.info({ tools: 3 }, 'selected %d', 3);
    expect(lines.join('')).toMatch(/^\{.*\}\n$/);
    expect(parsed()[0]).toEqual({ level: 'info', time: expect.any(String), tools: 3, msg: 'selected 3' });
  });

  it('keeps quiet below its level, which is warn unless told otherwise', () => {
    const { logger, parsed } = record({});
    logger.info('quiet');
    logger.warn('loud');
    expect(parsed().map(({ msg }) => msg)).toEqual(['loud']);
  });

  it('keeps code, message and details of an error', () => {
    const { logger, parsed } = record({});
    logger.error(new WinnowError('model_failed', 'It failed.', { details: { status: 500 } }));
    logger.error({ err: new Error('inner') }, 'outer');
    expect(parsed()).toMatchObject([
      { msg: 'It failed.', err: { code: 'model_failed', message: 'It failed.', details: { status: 500 } } },
      { msg: 'outer', err: { message: 'inner' } },
    ]);
  });

  it.each<[string, (logger: ReturnType<typeof createLogger>) => void]>([
    ['a field', (logger) => logger.warn({ options: { apiKey: 'hunter2' } })],
    ['the message', (logger) => logger.warn('logged in with hunter2')],
    ['a value put into the message', (logger) => logger.warn('logged in with %s', 'hunter2')],
    ['an object put into the message', (logger) => logger.warn('logged in with %j', { password: 'hunter2' })],
    ['an error alone', (logger) => logger.error(new Error('wrong: hunter2'))],
    ['an error with a message', (logger) => logger.error(new Error('wrong: hunter2'), 'failed')],
    [
      'details of an error',
      (logger) => logger.error({ err: new WinnowError('internal', 'x', { details: { token: 'hunter2' } }) }),
    ],
    ['bindings of a child', (logger) => logger.child({ authorization: 'hunter2' }).warn('x')],
  ])('never writes a secret that stands in %s', (_, log) => {
    const { logger, lines } = record({ secrets: ['hunter2'] });
    log(logger);
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain('hunter2');
    expect(lines[0]).toContain('[masked]');
  });

  it.each([
    ['a field', { apiKey: 'hunter2' }],
    ['an object in a field', { options: { headers: { authorization: 'hunter2' } } }],
    ['details of an error', { err: new WinnowError('internal', 'x', { details: { token: 'hunter2' } }) }],
  ])('masks %s by its name alone', (_, fields) => {
    const { logger, lines } = record({});
    logger.warn(fields);
    logger.child(fields).warn('x');
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).toContain('[masked]');
    expect(lines.join('')).not.toContain('hunter2');
  });

  it('masks what looks like a key', () => {
    const { logger, parsed } = record({});
    logger.warn({ tokens: 3 }, 'failed with sk-abcdefgh12345678 today');
    expect(parsed()).toMatchObject([{ tokens: 3, msg: 'failed with [masked] today' }]);
  });

  it('writes to stderr, not to stdout', () => {
    const stream: unknown = Reflect.get(createLogger(), pino.symbols.streamSym);
    expect(stream).toHaveProperty('fd', 2);
  });
});

describe('the line of a failure', () => {
  const lineOf = (error: WinnowError): Record<string, unknown> => {
    const { logger, parsed } = record({});
    logger.error({ requestId: 'r-1', ...failureFacts(error) }, error.message);
    return parsed()[0] ?? {};
  };

  it('has code, message and details, without the issues', () => {
    const error = new WinnowError('model_failed', 'HTTP 500', { details: { status: 500 }, issues: ['hunter2'] });
    const line = { requestId: 'r-1', code: 'model_failed', msg: 'HTTP 500', details: { status: 500 } };
    expect(lineOf(error)).toMatchObject(line);
    expect(JSON.stringify(lineOf(error))).not.toContain('hunter2');
  });

  it('tells of a selection the facts, and not what the model wrote', () => {
    const tools = [{ name: 'log_in', via: 'model' }];
    const dropped = [{ name: 'hunter2', reason: 'unknown' }];
    const selection = { mode: 'selected', reason: 'The user says hunter2.', tools, dropped, leftOut: 0 };
    const line = lineOf(new WinnowError('plan_invalid', 'No plan.', { details: { selection } }));
    expect(line.details).toEqual({ selection: { mode: 'selected', tools, leftOut: 0 } });
  });
});

describe('spans', () => {
  afterEach(() => trace.disable());

  it('hold the attributes of the beginning and of the end, and end with the work', async () => {
    const spans = recordSpans();
    const result = await withSpan('winnow.search', { 'winnow.top_k': 5 }, async (note) => {
      note.set({ 'winnow.matches': 2 });
      expect(spans[0]?.ended).toBe(0);
      return 'found';
    });
    expect(result).toBe('found');
    expect(spans).toEqual([
      { name: 'winnow.search', attributes: { 'winnow.top_k': 5, 'winnow.matches': 2 }, exceptions: [], ended: 1 },
    ]);
  });

  it('are marked by an error, which goes on', async () => {
    const spans = recordSpans();
    const error = new Error('broken');
    await expect(withSpan('winnow.decide', {}, () => Promise.reject(error))).rejects.toBe(error);
    expect(spans).toMatchObject([{ exceptions: [error], status: SpanStatusCode.ERROR, ended: 1 }]);
  });

  it('are named to others by the headers of W3C alone, whatever else the program hands on', () => {
    const given = { traceparent: 'p', tracestate: 's', baggage: 'user=ann', 'x-b3-traceid': '1' };
    const propagator: TextMapPropagator = {
      inject: (_, carrier) => void Object.assign(Object(carrier), given),
      extract: (context) => context,
      fields: () => Object.keys(given),
    };
    propagation.setGlobalPropagator(propagator);
    expect(traceHeaders()).toEqual({ traceparent: 'p', tracestate: 's' });
    propagation.disable();
  });

  it('cost nothing but the work where nobody traces', async () => {
    expect(await withSpan('winnow.plan', {}, async () => 7)).toBe(7);
  });
});
