/** What a part of a policy is about: each condition alone takes in what it names and leaves out the rest. */
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import {
  compileGlobs,
  compileToolMatch,
  matchesArguments,
  matchesCaller,
  matchSchema,
} from '../../../src/agents/policy/match.js';
import { createTool } from '../../support/create-tool.js';

const PUSH = createTool('git_push', {}, undefined, { category: 'git', origin: 'mcp:git', toolType: 'mcp' });
const BARE = createTool('git.push+x', {}, undefined, { origin: '/srv/tools.json' });

describe('a match about tools', () => {
  it.each([
    ['everything where nothing is given', {}, true, true],
    ['a name', { tool: 'git_push' }, true, false],
    ['a glob', { tool: 'git*push*' }, true, true],
    ['a glob of one character', { tool: 'git?push' }, true, false],
    ['a name in which no letter stands for others', { tool: 'git.push+x' }, false, true],
    ['one of several names', { tool: ['x', 'git.*'] }, false, true],
    ['a category', { category: 'git' }, true, false],
    ['an origin', { origin: 'mcp:*' }, true, false],
    ['a file as origin', { origin: '/srv/*.json' }, false, true],
    ['a type', { toolType: 'builtin' }, false, true],
    ['all that is given at once', { tool: 'git*', category: 'git', origin: 'mcp:git', toolType: 'mcp' }, true, false],
    ['nothing where one part does not hold', { tool: 'git*', origin: 'elsewhere' }, false, false],
  ])('takes in %s', (_, match, isPush, isBare) => {
    const isAbout = compileToolMatch(matchSchema.parse(match));
    expect([isAbout(PUSH), isAbout(BARE)]).toEqual([isPush, isBare]);
  });
});

describe('the category of a document of the network', () => {
  const tool = createTool('upload', {}, undefined, { category: 'weather', origin: 'https://api.test/all.json' });
  const matches = (match: object, options = {}) => compileToolMatch(matchSchema.parse(match), options)(tool);

  it('opens nothing unless its origin is named, too, and restricts all the same', () => {
    expect(matches({ category: 'weather' })).toBe(false);
    expect(matches({ category: 'weather', origin: 'https://api.test/*' })).toBe(true);
    expect(matches({ category: 'weather' }, { byServersWord: true })).toBe(true);
  });
});

describe('a glob', () => {
  const character = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code));
  const printable = fc.string({ unit: character });

  it('has a star for any characters, a question mark for one, and all others for themselves', () => {
    fc.assert(
      fc.property(printable, printable, printable, character, (before, after, any, other) => {
        const [start, end] = [before, after].map((text) => text.replaceAll(/[*?]/gu, ''));
        expect(compileGlobs([`${start}*${end}`])(`${start}${any}${end}`)).toBe(true);
        expect(compileGlobs([`${start}?${end}`])(`${start}${other}${end}`)).toBe(true);
        expect(compileGlobs([`${start}?${end}`])(`${start}${end}`)).toBe(false);
        expect(compileGlobs([`${start}|${end}*`])(`${start}-${end}`)).toBe(false);
      }),
    );
  });
});

describe('a match about callers', () => {
  it.each([
    ['its user', { user: 'ann' }, true],
    ['one of several users', { user: ['bob', 'ann'] }, true],
    ['another user', { user: 'ANN' }, false],
    ['one of the roles', { role: ['lead', 'dev'] }, true],
    ['no role of theirs', { role: 'lead' }, false],
    ['user and role together', { user: 'ann', role: 'lead' }, false],
  ])('by %s', (_, match, isMet) => {
    expect(matchesCaller(matchSchema.parse(match), { user: 'ann', roles: ['dev'] })).toBe(isMet);
    expect(matchesCaller(matchSchema.parse(match), { roles: [] })).toBe(false);
  });
});

describe('a match about arguments', () => {
  it.each([
    ['a value', { mode: 'read' }, true],
    ['one of several values', { mode: ['write', 'read'] }, true],
    ['a value of another type', { count: '1' }, false],
    ['a pattern', { mode: { pattern: '^re' } }, true],
    ['a pattern on what is no text', { count: { pattern: '1' } }, false],
    ['what is there', { mode: { present: true }, toString: { present: false } }, true],
    ['what is not there', { mode: { present: false } }, false],
  ])('by %s', (_, conditions, isMet) => {
    const match = matchSchema.parse({ arguments: conditions });
    expect(matchesArguments(match, { mode: 'read', count: 1 })).toBe(isMet);
  });

  it('makes a pattern once, not for each call', () => {
    const match = matchSchema.parse({ arguments: { mode: { pattern: '^re' } } });
    matchesArguments(match, { mode: 'read' });
    const make = vi.spyOn(globalThis, 'RegExp');
    try {
      matchesArguments(match, { mode: 'write' });
      expect(make).not.toHaveBeenCalled();
    } finally {
      make.mockRestore();
    }
  });
});
