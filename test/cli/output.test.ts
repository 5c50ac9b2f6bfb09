/** What commands write: results for people, text of strangers on a terminal, and how far something is. */

import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { printable, printableLine, renderJson, renderTable, writeLine } from '../../src/cli/output.js';
import { createDownloadLine, createTerminalLine, renderDuration } from '../../src/cli/progress.js';
import { renderPlan } from '../../src/cli/render-result.js';
import type { PullProgress } from '../../src/core/model/store/model-file.js';
import type { PlanResult, Selection } from '../../src/core/result.js';

/** What a terminal obeys, and what nobody sees. */
const HOSTILE = 'a\u001b[8m\u009b2K\u202e\u200b\u2028\u{e0041}\u{e0101}\ufe0f\u3164\u034fb';
const SPELT = String.raw`a\u{1b}[8m\u{9b}2K\u{202e}\u{200b}\u{2028}\u{e0041}\u{e0101}\u{fe0f}\u{3164}\u{34f}b`;

describe('text of strangers', () => {
  it('is spelt where a terminal would obey it', () => {
    expect(printableLine(HOSTILE)).toBe(SPELT);
    expect(printableLine('one\ntwo \u001b[31m')).toBe(String.raw`one\u{a}two \u{1b}[31m`);
    expect(printable(HOSTILE)).toBe(SPELT);
  });

  it('is one line beside the data, and in the progress of a command', () => {
    const [plain, terminal] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true })];
    writeLine(`${HOSTILE}\n`, plain);
    createDownloadLine('small', plain).note(HOSTILE);
    expect(String(plain.read())).toBe(`${SPELT}${String.raw`\u{a}`}\n${SPELT}\n`);
    createTerminalLine(terminal).show(HOSTILE);
    expect(String(terminal.read())).toBe(`\r\u001b[K${SPELT.slice(0, 79)}`);
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
        expect(text).not.toMatch(/(?!\n)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
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
    expect(text).not.toMatch(/(?!\n)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
    expect(text).toContain(SPELT);
  });
});

type Renderers = typeof import('../../src/cli/render-result.js');
let render: Renderers;
beforeAll(async () => {
  // Whether there are colours is decided when the modules are loaded.
  process.env.NO_COLOR = '1';
  vi.resetModules();
  render = await import('../../src/cli/render-result.js');
});

const usage = {
  selection: { calls: 1, read: 900, cached: 800, written: 30 },
  planning: { calls: 1, read: 1196, cached: 0, written: 70 },
  schemaTokens: { all: 5210, loaded: 640 },
  milliseconds: 4321,
};
const selection: Selection = {
  mode: 'selected',
  reason: 'they fit',
  tools: [
    { name: 'find_station', via: 'producer', serves: 'read_level.stcd' },
    { name: 'read_level', via: 'model', rank: 1, probability: 0.874 },
    { name: 'compare', via: 'keyword', rank: 3 },
    { name: 'rare', via: 'model', rank: 4, probability: 0.0123 },
  ],
  dropped: [
    { name: 'raed_level', reason: 'unknown', suggestion: 'read_level' },
    { name: 'other', reason: 'cap' },
  ],
  leftOut: 0,
};
const common = { selection: { ...selection, tools: [], dropped: [] }, usage, trace: [] };

describe('a selection for people', () => {
  it('says of each tool why it is here, and tells of names that do not exist', () => {
    expect(render.renderSelection({ ...selection, usage, trace: [] })).toBe(
      [
        'Tools',
        '  find_station  provides read_level.stcd',
        '  read_level    named by the model (1., 87 %)',
        '  compare       matches words of the request (3.)',
        '  rare          named by the model (4., 1.2 %)',
        '  left out for want of room: other',
        '  dropped: raed_level does not exist (near: read_level)',
        '',
        'tokens: selection 900 read, 800 from cache, 30 written; planning 1,196 read, 0 from cache, 70 written; schemas 640, all would be 5,210 (88 % less); 4,321 ms',
      ].join('\n'),
    );
  });

  it.each([
    ['of selection alone', 1, 0, 'tokens: selection 900 read, 800 from cache, 30 written; schemas 640'],
    ['of planning alone', 0, 1, 'tokens: planning 1,196 read, 0 from cache, 70 written; schemas 640'],
    ['of no call', 0, 0, 'tokens: no call; schemas 640'],
  ])('tells the cost %s', (_, selecting, planning, cost) => {
    const calls = {
      selection: { ...usage.selection, calls: selecting },
      planning: { ...usage.planning, calls: planning },
    };
    const rendered = render.renderSelection({ ...selection, usage: { ...usage, ...calls }, trace: [] });
    expect(rendered.split('\n').at(-1)).toContain(cost);
  });

  it.each<[string, Partial<Selection>, string]>([
    [
      'a fallback with its reason and what it left out',
      { mode: 'fallback', reason: 'the server failed', leftOut: 7 },
      'Tools (no choice was possible: the server failed)\n  none\n  7 more did not fit',
    ],
    ['that no tool fits', { mode: 'none', reason: 'nothing fits' }, 'Tools (none fits: nothing fits)\n  none'],
  ])('tells of %s', (_, more, text) => {
    expect(render.renderTools({ ...selection, tools: [], dropped: [], ...more })).toBe(text);
  });
});

describe('a result for people', () => {
  const step = (id: string, tool: string, values: Record<string, unknown>, dependsOn: string[] = []) => ({
    id,
    tool,
    arguments: values,
    purpose: '',
    dependsOn,
  });
  const bodyOf = (result: PlanResult) => render.renderPlan(result).split('\n\n')[1];

  it('shows each step with its arguments, deeper than those it waits for', () => {
    const steps = [
      step('s1', 'find', { name: '盘石头水库' }),
      step('s2', 'read', { stcd: '${s1.stcd}', hours: 24, days: ['a'] }, ['s1']),
      step('s3', 'find', {}),
    ];
    expect(bodyOf({ kind: 'plan', goal: 'g', steps, levels: [['s1', 's3'], ['s2']], unserved: [], ...common })).toBe(
      [
        'Plan',
        '  s1  find',
        '       name: 盘石头水库',
        '    s2  read  after s1',
        '         stcd: ${s1.stcd}',
        '         hours: 24',
        '         days: ["a"]',
        '  s3  find',
      ].join('\n'),
    );
  });

  it('tells where each value comes from, what no tool does, and how sure the plan is', () => {
    const steps = [
      {
        ...step('s1', 'read', { stcd: '${s0.stcd}', hours: 24, id: '7' }),
        from: { stcd: 'step', hours: 'computed', id: 'unknown' } as const,
      },
    ];
    const more = { levels: [['s1']], unserved: ['the weather'], confidence: 0.731 };
    expect(
      bodyOf({ kind: 'plan', goal: 'g', steps, ...more, ...common })
        ?.split('\n')
        .slice(2),
    ).toEqual([
      '       stcd: ${s0.stcd}  step',
      '       hours: 24  computed',
      '       id: 7  ! unknown',
      '  no tool does  the weather',
      '  least sure decision: 73 %',
    ]);
  });

  it('shows a question with what is missing, and the reason why there is no plan', () => {
    const asked = { kind: 'clarification', question: 'Which?', ...common } as const;
    expect(bodyOf({ ...asked, missing: ['name', 'day'], unserved: ['the weather'] })).toBe(
      'A question back\n  Which?\n  missing: name, day\n  no tool does  the weather',
    );
    expect(bodyOf({ ...asked, missing: [], unserved: [] })).toBe('A question back\n  Which?');
    expect(bodyOf({ kind: 'unplannable', reason: 'No\u001b tool\nbooks.', ...common })).toBe(
      'No plan\n  No tool books.',
    );
  });
});

const at = (bytes: number): PullProgress => ({ source: 'hub.example', bytes, total: 1_000_000 });

/** A bar at 10 kB a second: `update` lets the time pass that the new bytes take. */
function begin(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), isTTY ? { isTTY } : {});
  let now = 0;
  let last: PullProgress | undefined;
  const bar = createDownloadLine('small', stream, () => now);
  const update = (progress: PullProgress) => {
    now += Math.max(progress.bytes - (last?.bytes ?? progress.bytes), 0) / 10;
    last = progress;
    bar.update(progress);
  };
  return { ...bar, update, text: () => String(stream.read() ?? '') };
}

describe('progress without a terminal', () => {
  it('is one line every tenth', () => {
    const bar = begin(false);
    for (let bytes = 0; bytes <= 1_000_000; bytes += 12_500) bar.update(at(bytes));
    bar.stop();
    const lines = bar.text().trimEnd().split('\n');
    expect(lines).toHaveLength(10);
    expect(lines[4]).toBe('small 50%  500.0 kB of 1.00 MB, 10.0 kB/s, 50 s left, hub.example');
    expect(lines[9]).toBe('small 100%  1.00 MB of 1.00 MB, 10.0 kB/s, hub.example');
  });

  it.each([
    ['another source begins', 0, { ...at(800_000), source: 'packages' }],
    ['a download starts over', 800_000, at(0)],
  ])('counts the speed anew when %s', (_case, first, next) => {
    const bar = begin(false);
    bar.update(at(first));
    bar.update(next);
    bar.update({ ...next, bytes: next.bytes + 100_000 });
    const [begun, later] = bar.text().trimEnd().split('\n').slice(-2);
    expect(begun).not.toContain('left');
    expect(later).toContain(', 10.0 kB/s, ');
  });

  it('writes notices as lines', () => {
    const bar = begin(false);
    bar.note('Waiting.');
    expect(bar.text()).toBe('Waiting.\n');
  });
});

describe('progress on a terminal', () => {
  it('is a line with size, speed and time left, and notices above it', () => {
    const bar = begin(true);
    bar.update(at(0));
    bar.update(at(250_000));
    bar.note('Waiting.');
    bar.update(at(500_000));
    bar.stop();
    bar.stop();
    const written = bar.text();
    expect(written).toContain('50%  500.0 kB of 1.00 MB, 10.0 kB/s, 50 s left, hub.example');
    expect(written.indexOf('Waiting.\n')).toBeLessThan(written.indexOf('50%  500.0 kB'));
    expect(written.indexOf('Waiting.\n')).toBeGreaterThan(written.indexOf('small 25%'));
  });
});

describe('a time left', () => {
  it.each([
    [0.2, '1 s'],
    [59, '59 s'],
    [60, '1 min 0 s'],
    [3_725, '1 h 2 min'],
  ])('of %d seconds is %s', (seconds, text) => {
    expect(renderDuration(seconds)).toBe(text);
  });
});

/** What is written while a stage is shown. */
function written(isTTY: boolean): string {
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 80 });
  const line = createTerminalLine(stream);
  line.show('12 tools are seen');
  line.clear();
  line.clear();
  return String(stream.read() ?? '');
}

describe('the stage of a request', () => {
  it('is shown on a terminal', () => {
    expect(written(true)).toContain('12 tools are seen');
  });

  it('is written nowhere else, so that logs and pipes stay clean', () => {
    expect(written(false)).toBe('');
  });
});
