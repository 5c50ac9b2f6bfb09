import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { defaultPromptPath, EXAMPLES_MARK, readPrompt } from '../../../src/core/prompts/prompt-template.js';
import { loadNamedPrompt, loadPrompts } from '../../../src/core/prompts/prompts.js';
import {
  countSeenTokens,
  findBrokenPlaces,
  parseDraft,
  renderDraft,
  TUNED_PROMPTS,
} from '../../../src/evaluation/tune/prompt-draft.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const VALUES = {
  'select-tools': { none: 'none', summaries: 'THE TOOLS', context: '', message: 'm' },
  'plan-steps': {
    tools: 'THE TOOLS',
    further: 'MORE',
    context: '',
    awaited: '',
    likely: '',
    today: 'd',
    locale: 'en',
    message: 'm',
  },
};

/** What a model sees of a prompt file. */
function systemOf(name: (typeof TUNED_PROMPTS)[number], text: string): string {
  const path = join(temporaryFolder(), 'p.md');
  writeFileSync(path, text);
  const loaded = loadPrompts({ [name]: path });
  if (name === 'select-tools') return loaded.select.render(VALUES[name]).system;
  return loaded.plan.render(VALUES['plan-steps']).system;
}

describe.each(TUNED_PROMPTS)('%s, taken apart and put together', (name) => {
  const text = readPrompt(defaultPromptPath(name));
  const draft = parseDraft(name, text);

  it('says the same to the model', () => {
    expect(systemOf(name, renderDraft(draft))).toBe(systemOf(name, text));
  });

  it('has its examples before the tools, and loses none when it is taken apart again', () => {
    const examples = ['Request: a\nAnswer: 1', 'Request: b\nAnswer: 2'];
    const more = renderDraft({ ...draft, examples });
    expect(parseDraft(name, more)).toEqual({ ...draft, examples });
    const system = systemOf(name, more);
    expect(system).toContain('Worked examples:\n\nRequest: a\nAnswer: 1\n\nRequest: b\nAnswer: 2\n\nTools:');
    expect(system.indexOf('Request: b')).toBeLessThan(system.indexOf('THE TOOLS'));
    expect(system).not.toContain('<!--');
  });

  it('is counted as the model sees it: with the lines of its author, without the marks', () => {
    const noted = text.replace('\n<!-- user -->', '\n<!-- keep this short -->\n<!-- user -->');
    const seen: string[] = [];
    const count = (file: string) => countSeenTokens(file, { countTokens: (part) => seen.push(part) });
    for (const file of [text, renderDraft(draft), noted]) count(file);
    expect(seen[1]).toBe(seen[0]);
    expect(seen[2]).toContain('<!-- keep this short -->');
    expect(systemOf(name, noted)).toContain('<!-- keep this short -->');
    expect(seen[0]).not.toContain('<!--');
  });

  it('may say itself where examples stand', () => {
    const [head = '', user = ''] = text.split('\n<!-- user -->\n');
    const marked = `${head}\n\n${EXAMPLES_MARK}\n<!-- user -->\n${user}`;
    const system = systemOf(name, renderDraft({ ...parseDraft(name, marked), examples: ['Request: a\nAnswer: 1'] }));
    expect(system.endsWith('Worked examples:\n\nRequest: a\nAnswer: 1')).toBe(true);
  });
});

describe('a new wording', () => {
  const before = `Say {{none}}.\n\n${EXAMPLES_MARK}\n\nTools: {{summaries}}`;
  it.each<[string, string, string]>([
    ['loses a place', before.replace('{{none}}', ''), '"{{none}}" must stand there once'],
    ['doubles one', `${before}{{none}}`, '"{{none}}" must stand there once'],
    ['makes one up', `${before}{{tools}}`, '"{{tools}}" is not known here'],
    ['loses the mark of the examples', before.replace(EXAMPLES_MARK, ''), `"${EXAMPLES_MARK}" must stand there once`],
    ['begins another part', `${before}\n<!-- user -->\nx`, 'no other line of the form'],
  ])('that %s is broken', (_, after, said) => {
    expect(findBrokenPlaces(before, after).join()).toContain(said);
  });

  it('that keeps all places is not', () => {
    expect(findBrokenPlaces(before, `New words. ${before}`)).toEqual([]);
  });
});

describe('a text without its parts', () => {
  it('is refused', () => {
    expect(() => parseDraft('select-tools', 'x')).toThrow('<!-- system -->');
  });
});

describe('the prompt for proposals', () => {
  it('has all its places', () => {
    expect(loadNamedPrompt('propose-wording').hash).toMatch(/^[0-9a-f]{12}$/u);
  });
});
