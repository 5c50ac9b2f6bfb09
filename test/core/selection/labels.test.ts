import { describe, expect, it } from '@jest/globals';
import { createLabels } from '../../../src/core/selection/labels.js';
import { createSheet } from '../../../src/core/selection/sheet.js';
import { makeTool } from './setup.js';

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
