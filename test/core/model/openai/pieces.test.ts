import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createPieces, weighPieces } from '../../../../src/core/model/openai/pieces.js';
import { anyCharacter } from '../../../support/any-character.js';

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
    const pieces = createPieces();
    expect(pieces.tokenize(name).map(pieces.textOf)).toEqual(expected);
  });

  it('keeps every character of any text, and gives equal pieces equal numbers', () => {
    const pieces = createPieces();
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const tokens = pieces.tokenize(text);
        expect(tokens.map(pieces.textOf).join('')).toBe(text);
        expect(pieces.tokenize(text)).toEqual(tokens);
      }),
    );
  });

  it('does not know the numbers of another vocabulary', () => {
    expect(() => createPieces().textOf(3)).toThrow(RangeError);
  });
});

describe('the weight of pieces', () => {
  const top = (probabilities: Record<string, number>) =>
    Object.entries(probabilities).map(([text, value]) => ({ text, logprob: Math.log(value) }));
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
