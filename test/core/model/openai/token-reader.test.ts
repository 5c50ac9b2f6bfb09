import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReaderRequest } from '../../../../src/core/model/model.js';
import { piecesOf, renderRawPrompt, weighPieces } from '../../../../src/core/model/openai/token-reader.js';
import { anyCharacter } from '../../../support/any-character.js';
import type { Behaviour } from '../../../support/scripted-server.js';
import {
  fail,
  hang,
  nextTokens,
  nextTokensListed,
  noNextTokens,
  rateLimited,
  send,
} from '../../../support/server-behaviours.js';
import { errorOf, KEY, startModel } from './setup.js';

const REQUEST: ReaderRequest = {
  prompt: { system: 'Tools:\n- get_user\n- query_last', user: 'Who am I?' },
  opening: '{"selected_tools": ["',
};

async function openOn(script: readonly Behaviour[], request = REQUEST) {
  const { server, model } = await startModel(script);
  if (!model.openReader) throw new Error('The model has no reader.');
  return { server, reader: await model.openReader(request) };
}

describe('the reader over /completions', () => {
  it('shows the server system, request and opened answer as plain text', () => {
    expect(renderRawPrompt(REQUEST.prompt, REQUEST.opening)).toBe(
      'Tools:\n- get_user\n- query_last\n\nRequest: Who am I?\n\nAnswer: {"selected_tools": ["',
    );
  });

  it.each([
    ['OpenAI', nextTokens],
    ['llama.cpp', nextTokensListed],
  ])('weighs candidates by the probabilities in the form of %s', async (_, behaviour) => {
    const { server, reader } = await openOn([behaviour({ get: 0.7, qu: 0.2, Z: 0.1 })]);
    const [get, query] = [reader.tokenize('get_user')[0] ?? '', reader.tokenize('query_last')[0] ?? ''];
    const weights = await reader.weigh([], [get, query]);
    expect(weights[0]).toBeCloseTo(Math.log(0.7));
    expect(weights[1]).toBeCloseTo(Math.log(0.2));
    expect(server.requests[0]).toMatchObject({
      path: '/v1/completions',
      body: {
        model: 'scripted-model',
        prompt: renderRawPrompt(REQUEST.prompt, REQUEST.opening),
        max_tokens: 1,
        logprobs: 20,
        temperature: 0,
      },
    });
  });

  it('asks for what follows the path, each place once, and counts what it read', async () => {
    const { server, reader } = await openOn([nextTokens({ get: 1 }), nextTokens({ _user: 0.9, _all: 0.1 })]);
    const path = reader.tokenize('get');
    const candidates = [...reader.tokenize('_all'), ...reader.tokenize('_user')];
    const weights = await reader.weigh(path, candidates);
    expect(await reader.weigh(path, candidates)).toEqual(weights);
    expect(weights[1]).toBeGreaterThan(weights[0] ?? 0);
    expect(server.requests.map(({ body }) => String(body.prompt).endsWith('["get'))).toEqual([false, true]);
    expect(reader.usage()).toEqual({ calls: 2, read: 10, cached: 30, written: 2 });
  });

  it('tries again after a failure that may pass', async () => {
    const { server, reader } = await openOn([rateLimited(), nextTokens({ get: 1 })]);
    expect(reader.usage().calls).toBe(2);
    server.assertDone();
  });

  it.each([
    ['without /completions', fail(404, 'Not Found')],
    ['that does not take logprobs', fail(400, 'logprobs is not supported')],
    ['that answers without probabilities', noNextTokens()],
    ['that answers with none', send(200, { choices: [{ logprobs: { top_logprobs: [] } }] })],
  ])('is refused on a server %s, with the reason', async (_, behaviour) => {
    const error = await errorOf(openOn([behaviour]));
    expect(error).toMatchObject({ code: 'model_refused', details: { usage: { calls: 1 } } });
    expect(error.message).toContain('Rank needs next-token probabilities');
  });

  it.each([
    ['a wrong key', fail(401, `Wrong key ${KEY}`), 'model_refused'],
    ['a long prompt', fail(400, 'maximum context length is 10'), 'context_exceeded'],
  ])('tells of %s as it is', async (_, behaviour, code) => {
    const error = await errorOf(openOn([behaviour]));
    expect(error).toMatchObject({ code });
    expect(error.message).not.toMatch(/Rank needs|test-key/);
  });

  it('stops a weighing when its signal fires', async () => {
    const controller = new AbortController();
    const { server, reader } = await openOn([nextTokens({ get: 1 }), hang()], {
      ...REQUEST,
      signal: controller.signal,
    });
    const pending = errorOf(reader.weigh(reader.tokenize('get'), reader.tokenize('_user')));
    await server.received(2);
    controller.abort();
    expect(await pending).toMatchObject({ code: 'cancelled', details: { usage: { calls: 2 } } });
  });

  it('refuses to weigh when closed', async () => {
    const { reader } = await openOn([nextTokens({ get: 1 })]);
    await reader.close();
    await expect(reader.weigh([], reader.tokenize('get'))).rejects.toMatchObject({ code: 'internal' });
  });
});

describe('the pieces of a name', () => {
  it.each([
    ['get_user_v2"', ['get', '_user', '_v', '2', '"']],
    ['getUserById', ['get', 'User', 'By', 'Id']],
    ['HTTPServer', ['HTTP', 'Server']],
    ['files.read-all/now please', ['files', '.read', '-all', '/now', ' please']],
    ['a__b', ['a', '_', '_b']],
    ['查询水库"', ['查', '询', '水', '库', '"']],
    ['', []],
  ])('cuts %j', (name, expected) => {
    expect(piecesOf(name)).toEqual(expected);
  });

  it('keep every character of any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(piecesOf(text).join('')).toBe(text);
      }),
    );
  });
});

describe('the weight of pieces', () => {
  const top = (probabilities: Record<string, number>) =>
    Object.entries(probabilities).map(([text, probability]) => ({ text, probability }));
  const weigh = (pieces: string[], probabilities: Record<string, number>) =>
    weighPieces(pieces, top(probabilities)).map((weight) => Number(Math.exp(weight).toFixed(4)));

  it.each([
    ['a token that begins the piece', ['reservoir', 'station'], { res: 0.6, st: 0.3 }, [0.6, 0.3]],
    ['a token that goes on after the piece', ['get', '"'], { get_user: 0.5, '"]': 0.4 }, [0.5, 0.4]],
    ['several tokens for one piece', ['get', 'list'], { g: 0.1, get: 0.4, list: 0.5 }, [0.5, 0.5]],
    ['a token that fits two, shared out', ['get', 'give', 'x'], { g: 0.4, x: 0.6 }, [0.2, 0.2, 0.6]],
    ['a piece that was not returned, below the least', ['get', 'other'], { get: 0.9, zz: 0.1 }, [0.9, 0.0368]],
    ['an empty token, which tells nothing', ['get', 'a'], { '': 0.5, get: 0.5 }, [0.5, 0.1839]],
  ])('counts %s', (_, pieces, probabilities, expected) => {
    expect(weigh(pieces, probabilities)).toEqual(expected);
  });

  it('gives all the same weight when no token was returned', () => {
    expect(weighPieces(['a', 'b'], [])).toEqual([-1, -1]);
  });
});
