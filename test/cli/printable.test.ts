import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { printable, printableLine, renderJson } from '../../src/cli/printable.js';
import { renderPlan } from '../../src/cli/render-plan.js';
import { renderTable } from '../../src/cli/render-table.js';

/** What a terminal obeys, and what nobody sees. */
const HOSTILE = 'a\u001b[8m\u009b2K\u202e\u200b\u2028\u{e0041}b';
const SPELT = String.raw`a\u{1b}[8m\u{9b}2K\u{202e}\u{200b}\u{2028}\u{e0041}b`;

describe('text of strangers', () => {
  it('is spelt where a terminal would obey it', () => {
    expect(printableLine(HOSTILE)).toBe(SPELT);
    expect(printableLine('one\ntwo \u001b[31m')).toBe(String.raw`one\u{a}two \u{1b}[31m`);
    expect(printable(HOSTILE)).toBe(SPELT);
  });

  it('keeps line breaks and colours of a whole text', () => {
    const text = '\u001b[1mTools\u001b[22m\n\t盘石头 – é 🙂\n';
    expect(printable(text)).toBe(text);
  });

  it('is one line in each cell of a table', () => {
    const table = renderTable(['session', 'user'], [['s1', `${HOSTILE}\nsession  user`]], { leftColumns: 2 });
    expect(table.split('\n')).toEqual([
      expect.stringContaining('session'),
      `s1       ${SPELT}${String.raw`\u{a}`}session  user`,
    ]);
  });

  it('is the same value as JSON, whatever it is', () => {
    fc.assert(
      fc.property(fc.record({ name: fc.string({ unit: 'binary' }), any: fc.jsonValue() }), (value) => {
        const text = renderJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(text).not.toMatch(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/u);
      }),
    );
  });

  it('neither reaches a terminal by the names and values of a plan', () => {
    const usage = { calls: 0, read: 0, cached: 0, written: 0 };
    const text = renderPlan({
      kind: 'plan',
      steps: [{ id: 's1', tool: HOSTILE, arguments: { [HOSTILE]: HOSTILE }, dependsOn: [], from: {} }],
      levels: [['s1']],
      unserved: [HOSTILE],
      selection: { tools: [], mode: 'selected', reason: '', dropped: [], leftOut: 0 },
      usage: { selection: usage, planning: usage, schemaTokens: { all: 0, loaded: 0 }, milliseconds: 1 },
    } as never);
    expect(text).not.toMatch(/(?!\n)[\p{C}\p{Zl}\p{Zp}]/u);
    expect(text).toContain(SPELT);
  });
});
