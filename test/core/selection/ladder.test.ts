import { describe, expect, it } from 'vitest';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { WinnowError } from '../../../src/core/errors.js';
import { estimateTokens } from '../../../src/core/model/count-tokens.js';
import { climb, createLabels, createSheet } from '../../../src/core/selection/ladder.js';
import { loadFixture } from '../../support/fixtures.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { makeTool, namesOf, naming, notesOf, plannerOf, viewOf } from './setup.js';

const DESCRIPTION = 'Does something with a thing. And this is said at some length besides. '.repeat(3);
const TOOLS: readonly Tool[] = Array.from({ length: 60 }, (_, place) =>
  makeTool(`tool_number_${place}`, { description: `${place < 10 ? 'Zebra. ' : ''}${DESCRIPTION}` }),
);
const view = viewOf(TOOLS);
const model = createScriptedModel();
const QUERY = 'ride a zebra';

function climbTo(summaryTokens: number, query = QUERY) {
  return climb(view, query, { summaryTokens, model });
}

describe('the ladder', () => {
  it.each([
    [20_000, 'whole', 0],
    [1_600, 'sentence', 0],
    [500, 'names', 0],
    [150, 'shortlist', 50],
  ] as const)('with a budget of %d tokens ends on the rung "%s"', async (budget, rung, leftOut) => {
    const footing = await climbTo(budget);
    expect(footing).toMatchObject({ rung, leftOut });
    expect(footing.sheets).toHaveLength(1);
    for (const sheet of footing.sheets) expect(estimateTokens(sheet.text)).toBeLessThanOrEqual(budget);
  });

  it('ends on shards when the words of the request are not those of the catalogue', async () => {
    const { rung, sheets, leftOut } = await climbTo(150, '帮我查一下水库');
    expect({ rung, leftOut }).toEqual({ rung: 'shards', leftOut: 0 });
    expect(sheets.length).toBeGreaterThan(1);
    expect(sheets.flatMap((sheet) => sheet.tools)).toEqual(TOOLS);
    for (const sheet of sheets) expect(estimateTokens(sheet.text)).toBeLessThanOrEqual(150);
  });

  it('keeps the tools in their order on the stable rungs, whatever the request', async () => {
    const [one] = (await climbTo(500, 'a')).sheets;
    expect((await climbTo(500, 'b')).sheets[0]).toBe(one);
    expect(one?.tools).toEqual(TOOLS);
  });

  it('has the best matches first on a shortlist', async () => {
    const [sheet] = (await climbTo(150, 'zebra')).sheets;
    expect(sheet?.tools).toEqual(TOOLS.slice(0, 10));
  });

  it('shortens a shortlist that does not fit, and counts what that leaves out', async () => {
    const { rung, sheets, leftOut } = await climbTo(30);
    expect(rung).toBe('shortlist');
    expect(leftOut).toBe(TOOLS.length - (sheets[0]?.tools.length ?? 0));
    expect(estimateTokens(sheets[0]?.text ?? '')).toBeLessThanOrEqual(30);
  });
});

const namesIn = (system: string) => [...system.matchAll(/^- ([^:\s]+)/gmu)].map(([, name = '']) => name);

describe('a request on the ladder', () => {
  const options = { summaryTokens: 200 } as const;
  const many = Array.from({ length: 120 }, (_, place) =>
    makeTool(`tool_number_${place}`, { description: DESCRIPTION }),
  );

  it('tells its rung and what that left out', async () => {
    const zebras = many.map((tool, place) => (place < 10 ? { ...tool, description: 'Rides a zebra.' } : tool));
    const scripted = createScriptedModel({ answers: [naming('tool_number_3')] });
    const { trace } = await plannerOf({ tools: zebras, model: scripted, options }).select({ message: QUERY });
    expect(trace.find(({ stage }) => stage === 'summaries')).toMatchObject({
      rung: 'shortlist',
      tools: 120,
      leftOut: 110,
    });
  });

  describe('on names alone', () => {
    const zebras = many.map((tool, place) => (place > 110 ? { ...tool, description: 'Rides a zebra.' } : tool));
    const byNames = { summaryTokens: 1_000 } as const;
    const select = async (answers: Parameters<typeof createScriptedModel>[0]) => {
      const scripted = createScriptedModel(answers);
      const planner = plannerOf({ tools: zebras, model: scripted, options: byNames });
      return { scripted, selected: await planner.select({ message: QUERY }) };
    };

    it('asks once more about the likeliest and what keywords find, with what they do', async () => {
      const { scripted, selected } = await select({ answers: [naming('tool_number_5'), naming('tool_number_115')] });
      const [first = '', second = ''] = scripted.calls.map(({ prompt }) => prompt.system);
      expect(first).toMatch(/^- tool_number_5$/mu);
      expect(second).toMatch(/^- tool_number_5: Does something/mu);
      expect(second).toMatch(/^- tool_number_115: Rides a zebra/mu);
      expect(namesIn(second)).toHaveLength(10);
      expect(namesOf(selected)[0]).toBe('tool_number_115');
      expect(notesOf(selected.trace, 'summaries')).toContain('a second look at 10 of the 10 likeliest tools');
      scripted.assertDone();
    });

    it('asks once where none was named', async () => {
      const { scripted } = await select({ answers: [naming()] });
      scripted.assertDone();
    });

    it('keeps the first answer where the second look fails', async () => {
      const broken = new WinnowError('model_failed', 'HTTP 500');
      const { selected } = await select({ answers: [naming('tool_number_5'), broken] });
      expect(selected).toMatchObject({ mode: 'selected' });
      expect(namesOf(selected)[0]).toBe('tool_number_5');
      expect(notesOf(selected.trace, 'selection')).toContain('the first stands: model_failed');
    });
  });

  it('asks each shard, then once more about all they named', async () => {
    const scripted = createScriptedModel({
      answers: ({ prompt }) => naming(...namesIn(prompt.system).slice(0, 1)),
    });
    const planner = plannerOf({ tools: many, model: scripted, options });
    const { tools, trace, usage } = await planner.select({ message: '水库' });
    const shards = scripted.calls.slice(0, -1);
    expect(shards.length).toBeGreaterThan(1);
    const last = scripted.calls.at(-1)?.prompt.system;
    for (const { prompt } of shards) expect(last).toContain(`${/^- \S+/mu.exec(prompt.system)?.[0]}:`);
    expect(namesOf({ tools })).toEqual(['tool_number_0']);
    expect(usage.selection.calls).toBe(scripted.calls.length);
    expect(
      trace
        .filter(({ stage }) => stage === 'summaries')
        .map(({ note }) => note)
        .join(),
    ).toMatch(/in \d+ parts,a second look at/u);
  });

  it('leaves a shard out that fails, and says so', async () => {
    const scripted = createScriptedModel({
      answers: ({ prompt }) => {
        if (/^- tool_number_0$/mu.test(prompt.system)) return new WinnowError('model_failed', 'HTTP 500');
        return naming(...namesIn(prompt.system).slice(0, 1));
      },
    });
    const selected = await plannerOf({ tools: many, model: scripted, options }).select({ message: '水库' });
    expect(selected.mode).toBe('selected');
    expect(namesOf(selected)).not.toContain('tool_number_0');
    expect(notesOf(selected.trace, 'summaries')).toMatch(/\n1 of \d+ parts failed\n/u);
  });

  it.each([
    ['names alone where the sentences do not fit', 'tool_number_', /a second look at \d+ of the \d+ likeliest tools$/u],
    [
      'the first names of each shard where all do not fit',
      'a_'.repeat(40),
      /a second look at \d of the \d+ likeliest tools$/u,
    ],
  ])('chooses finally from %s', async (_, beginning, note) => {
    const tools = Array.from({ length: 40 }, (_, place) =>
      makeTool(`${beginning}${place}`, { description: 'without a full stop '.repeat(60) }),
    );
    const scripted = createScriptedModel({ answers: ({ prompt }) => naming(...namesIn(prompt.system).slice(0, 4)) });
    const planner = plannerOf({ tools, model: scripted, options: { summaryTokens: 200, maxTools: 4 } });
    const selected = await planner.select({ message: '水库' });
    expect(selected.mode).toBe('selected');
    const shards = scripted.calls.slice(0, -1).map(({ prompt }) => namesIn(prompt.system));
    const last = scripted.calls.at(-1)?.prompt.system ?? '';
    expect(last).not.toContain('full stop');
    const [first = [], second = []] = shards;
    expect(namesIn(last).slice(0, 2)).toEqual([first[0], second[0]]);
    expect(estimateTokens(last.slice(last.indexOf('\n- ')))).toBeLessThanOrEqual(200);
    expect(notesOf(selected.trace, 'summaries')).toMatch(note);
  });

  it('finds its way with a catalogue in another language', async () => {
    const { tools } = (await loadFixture('hydrology')).catalog;
    const wanted = 'query_reservoir_last';
    const scripted = createScriptedModel({
      answers: ({ prompt }) => (prompt.system.includes(`- ${wanted}`) ? naming(wanted) : naming()),
    });
    const planner = plannerOf({ tools, model: scripted, options });
    const selected = await planner.select({ message: 'How much water does the big lake hold?' });
    expect(selected.mode).toBe('selected');
    expect(selected.trace).toContainEqual(expect.objectContaining({ rung: 'shards', leftOut: 0 }));
    expect(namesOf(selected)).toContain(wanted);
  });

  // Every shard says "none": there is nothing to choose from any more.
  it('asks no more when every shard found nothing', async () => {
    const scripted = createScriptedModel({ answers: () => naming() });
    const planner = plannerOf({ tools: many, model: scripted, options });
    expect(await planner.select({ message: '水库' })).toMatchObject({ mode: 'none', tools: [] });
    expect(scripted.calls.every(({ prompt }) => prompt.system.includes('- tool_number'))).toBe(true);
  });
});

const at = (name: string, origin: string, category?: string) =>
  makeTool(name, { origin, ...(category ? { category } : {}) });

describe('the name of the server in front of a name', () => {
  it.each([
    ['github__open_issue', 'github', 'open_issue'],
    ['GitHub-open', 'github', 'open'],
    ['spotify_play', 'spotify', 'play'],
    ['githubopen', 'github', 'githubopen'],
    ['github', 'github', 'github'],
    ['github_x', 'github', 'github_x'],
    ['open_issue', 'github', 'open_issue'],
  ])('%s of %s is read as %s', (name, origin, label) => {
    const tool = at(name, origin);
    const labels = createLabels([tool]);
    expect(labels.labelOf(tool)).toBe(label);
    expect(labels.toolOf(label)).toBe(tool);
  });

  it('stays where two tools would be called the same', () => {
    const tools = [at('a_open', 'a'), at('b_open', 'b'), at('c_open_x', 'c'), at('open_x', 'd')];
    const labels = createLabels(tools);
    expect(tools.map(labels.labelOf)).toEqual(['a_open', 'b_open', 'c_open_x', 'open_x']);
    expect(tools.map((tool) => labels.toolOf(labels.labelOf(tool)))).toEqual(tools);
  });

  it('stands as the group instead, where there is no other', () => {
    const sheet = createSheet(
      [at('github_open', 'github'), at('jira_close', 'jira', 'tickets'), at('go', 'x')],
      'whole',
    );
    expect(sheet.text).toBe('- open [github]\n- close [tickets]\n- go');
  });
});

describe('the name for "no tool fits"', () => {
  it('is never that of a tool', () => {
    expect(createLabels([at('open', 'x')]).none).toBe('none');
    for (const tools of [[at('none', 'x')], [at('none', 'x'), at('none_of_these', 'x')], [at('x_none', 'x')]]) {
      const { none, toolOf } = createLabels(tools);
      expect(toolOf(none)).toBeUndefined();
      expect(none).not.toBe('');
    }
  });
});
