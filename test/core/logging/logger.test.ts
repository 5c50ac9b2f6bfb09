import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { WinnowError } from '../../../src/core/errors.js';
import { createLogger, type LogOptions, logFailure } from '../../../src/core/logging/logger.js';

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
    logFailure(logger, error, { requestId: 'r-1' });
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
