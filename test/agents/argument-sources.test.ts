import { describe, expect, it } from 'vitest';
import { renderSource, sourcesFor, sourcesForAudit, sourcesOf } from '../../src/agents/argument-sources.js';
import type { ArgumentSource, SourceName } from '../../src/core/result.js';

const from = (...names: SourceName[]) => names;

describe('the sources in the audit', () => {
  it('are as they were, where they are few', () => {
    const sources = {
      to: { source: 'step' as const, references: ['${s1.place}'] },
      by: { source: 'request' as const },
    };
    expect(sourcesForAudit(sources)).toEqual(sources);
  });

  it('are the first of many, with short names and a count of the rest', () => {
    const long = 'n'.repeat(10_000);
    const references = Array.from({ length: 20 }, () => `\${s1.${long}}`);
    const names = Array.from({ length: 2_000 }, (_, place) => `${place}${long}`);
    const kept = sourcesForAudit(Object.fromEntries(names.map((name) => [name, { source: 'step', references }])));
    expect(Object.keys(kept)).toHaveLength(51);
    expect(Object.keys(kept).at(-1)).toBe('and 1950 more');
    expect(Object.values(kept)[0]?.references).toHaveLength(5);
    expect(JSON.stringify(kept).length).toBeLessThan(50_000);
  });
});

describe('the sources of a step', () => {
  it.each<[string, unknown, SourceName[], object]>([
    ['words of the request', 'old.txt', from('request'), { source: 'request' }],
    ['a reference', '${s1.path}', from('step'), { source: 'step', references: ['${s1.path}'] }],
    [
      'a text around references',
      'a ${s1.b} ${s2.c}',
      from('step'),
      { source: 'step', references: ['${s1.b}', '${s2.c}'] },
    ],
    [
      'a list with parts of several sources',
      ['${s1.a}', 'b'],
      from('composed'),
      { source: 'composed', references: ['${s1.a}'] },
    ],
    ['what the person who edited it says', 'new.txt', from('person'), { source: 'person' }],
    ['an argument that was added', 'new.txt', from(), { source: 'person' }],
    ['a value in place of a reference', 'new.txt', from('step'), { source: 'person' }],
    ['a list in place of references', ['new.txt'], from('step'), { source: 'person' }],
    [
      'a reference in place of a value',
      '${s1.path}',
      from('request'),
      { source: 'person', references: ['${s1.path}'] },
    ],
  ])('tell %s', (_, value, [source], expected) => {
    const step = { arguments: { path: value }, from: source ? { path: source } : {} };
    expect(sourcesOf(step)).toEqual({ path: expected });
  });

  it('are none where the plan does not say where its arguments come from', () => {
    expect(sourcesOf({ arguments: { path: 'a' } })).toBeUndefined();
    expect(sourcesFor({ path: 'a' }, undefined)).toBeUndefined();
  });

  it('take no name of every object for a source', () => {
    expect(sourcesOf({ arguments: { constructor: 'a' }, from: {} })).toEqual({ constructor: { source: 'person' } });
  });

  it('tell what was filled in for the tool as the default of its schema, and nothing of what it does not get', () => {
    const told = { path: { source: 'request' }, gone: { source: 'request' } } as const;
    expect(sourcesFor({ path: 'a', limit: 3 }, told)).toEqual({
      path: { source: 'request' },
      limit: { source: 'default' },
    });
  });
});

it.each<[ArgumentSource, string]>([
  [{ source: 'request' }, 'request'],
  [{ source: 'step', references: ['${s1.a}', '${s2.b}'] }, 'step ${s1.a} ${s2.b}'],
  [{ source: 'composed' }, '! composed'],
  [{ source: 'unknown' }, '! unknown'],
  [{ source: 'step', references: ["${s1['\u202ea\u3164']}"] }, "step ${s1['\\u{202e}a\\u{3164}']}"],
])('the source %j reads "%s"', (source, text) => {
  expect(renderSource(source)).toBe(text);
});
