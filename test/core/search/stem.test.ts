import { describe, expect, it } from '@jest/globals';
import { stemOf } from '../../../src/core/search/stem.js';

describe('stems', () => {
  it.each([
    ['debug', 'debugging', 'debugged', 'debugger'],
    ['compile', 'compiles', 'compiled', 'compiling', 'compilation'],
    ['define', 'defined', 'definition', 'definitions'],
    ['install', 'installed', 'installation'],
    ['queue', 'queued', 'queues'],
    ['run', 'running', 'runner'],
    ['format', 'formatting', 'formatted', 'formatter'],
    ['reference', 'references', 'referenced'],
    ['name', 'names', 'named', 'naming'],
    ['add', 'adds', 'added', 'adding'],
    ['translate', 'translated', 'translating', 'translator', 'translation', 'translations'],
    ['evaluate', 'evaluated', 'evaluation'],
    ['create', 'created', 'creating', 'creation'],
    ['locate', 'located', 'location'],
    ['repeat', 'repeated', 'repeating'],
  ])('of %s and its forms are one', (...forms) => {
    expect(new Set(forms.map(stemOf)).size).toBe(1);
  });

  it.each([
    ['string', 'str'],
    ['thing', 'the'],
    ['action', 'act'],
    ['class', 'clas'],
    ['file', 'fill'],
    ['user', 'use'],
    ['notes', 'not'],
    ['wipe', 'wip'],
    ['format', 'form'],
    ['state', 'station'],
  ])('of %s is not that of %s', (one, other) => {
    expect(stemOf(one)).not.toBe(stemOf(other));
  });

  it.each(['水位', 'h264', 'id', 'a', ''])('"%s" stays as it is', (word) => {
    expect(stemOf(word)).toBe(word);
  });
});
