/** What a tuned prompt may be: its draft, its gate, and how much longer it may become. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  defaultPromptPath,
  EXAMPLES_MARK,
  loadNamedPrompt,
  loadPrompts,
  readPrompt,
} from '../../../src/core/prompts/prompts.js';
import {
  countSeenTokens,
  findBrokenPlaces,
  parseDraft,
  renderDraft,
  TUNED_PROMPTS,
} from '../../../src/eval/tune/prompt-draft.js';
import { createPromptGate, holdsTextOf, shinglesOf, tokensOf } from '../../../src/eval/tune/prompt-gate.js';
import { splitCases } from '../../../src/eval/tune/split-cases.js';
import { tune } from '../../../src/eval/tune/tune.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { aCase } from '../setup.js';
import { aModel, isProposal, PLACES, tuneOptions } from './setup.js';

const says = (message: string, more: Parameters<typeof aCase>[0] = {}) =>
  aCase({ id: message, request: { message }, ...more });
const WITHHELD = says('what is the water level of lake Onega in March');
const CHINESE = says('盘石头水库当前水位是多少米');
const TRAINING = says('please send the weekly flood report to the director today');
const parts = {
  training: [TRAINING],
  withheld: [WITHHELD, CHINESE, says('help'), says('再来一次')],
  known: ['the flow of a river in the last hour'],
};
const gate = createPromptGate(parts);

describe('the gate', () => {
  it.each<[string, string]>([
    ['a whole request', 'Rule: what is the water level of lake Onega in March?'],
    ['it in other letters and signs', 'WHAT IS THE *water* level, of Lake Onega (in March)'],
    ['five words of it', 'Ask of lake Onega in March only.'],
    ['eight characters of a Chinese one', '如果问到盘石头水库当前水位，就查'],
    ['a whole short Chinese one', '用户说再来一次时'],
    ['a whole one of one word, as an example', 'Request: help\nAnswer: x'],
  ])('refuses %s of a withheld case', (_, text) => {
    expect(gate.admit(text, 'training').ok).toBe(false);
  });

  it.each<[string, string]>([
    ['general words', 'When a level is asked for, first find the station. This can help.'],
    ['four words in a row', 'For the water level of a place, look it up.'],
    ['a training case, as an example', 'Request: please send the weekly flood report to the director today'],
    ['what is known anyway', 'Answer with the flow of a river in the last hour.'],
  ])('lets %s pass', (_, text) => {
    expect(gate.admit(text, 'training')).toEqual({ ok: true, text });
  });

  it('refuses words of a training case in what must be general, and says which', () => {
    expect(gate.admit('Always send the weekly flood report first.', 'nothing')).toEqual({
      ok: false,
      issues: ['instructions: "send the weekly flood report" is copied from a case; say it in general words'],
    });
  });

  it('quotes nothing that is kept back when it says what is wrong', () => {
    const text = `${WITHHELD.request.message}. Send the weekly flood report to the director of lake Onega in March only.`;
    const admission = gate.admit(text, 'nothing');
    const issues = admission.ok ? [] : admission.issues;
    expect(issues).toHaveLength(3);
    expect(issues.join()).toContain('"send the weekly flood report"');
    expect(issues.join().toLowerCase()).not.toMatch(/onega|march|water/u);
  });

  it.each([
    [
      'an earlier message',
      says('do that again', {
        request: {
          message: 'do that again',
          history: [{ role: 'user', content: 'open the spillway gate number seven' }],
        },
      }),
    ],
    [
      'an entity',
      says('go on', { request: { message: 'go on', entities: { note: ['open the spillway gate number seven'] } } }),
    ],
    [
      'an argument',
      says('go', {
        expected: {
          tools: ['t'],
          steps: [{ tool: 't', arguments: { a: { b: 'open the spillway gate number seven' } } }],
        },
      }),
    ],
  ])('knows what a withheld case holds in %s', (_, withheld) => {
    const own = createPromptGate({ training: [], withheld: [withheld], known: [] });
    expect(own.admit('First open the spillway gate number seven.', 'training').ok).toBe(false);
  });

  const word = fc.stringMatching(/^[a-z]{1,6}$/u);
  const chinese = fc.stringMatching(/^[水库当前位多少米流量站点查询]{1,12}$/u);
  const message = fc.oneof(
    fc.array(word, { minLength: 1, maxLength: 10 }).map((words) => words.join(' ')),
    chinese,
  );

  it('never lets a whole request of a withheld case pass, whatever the cases and wherever it stands', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(message, { minLength: 16, maxLength: 30 }),
        fc.integer(),
        fc.nat(),
        (messages, seed, at) => {
          const split = splitCases(
            messages.map((text) => says(text)),
            { seed },
          );
          const withheld = [...split.choosing, ...split.heldBack];
          const one = withheld[at % withheld.length]?.request.message ?? '';
          const own = createPromptGate({ training: split.training, withheld, known: [] });
          for (const mayQuote of ['training', 'nothing'] as const) {
            expect(own.admit(`You choose.\nRequest: ${one}\nAnswer: x`, mayQuote).ok).toBe(false);
          }
          if (tokensOf(one).length > 4) expect(own.admit(`Before. Then ${one}, behind.`, 'training').ok).toBe(false);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('never lets five words in a row pass that only a withheld case has', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(word, { minLength: 6, maxLength: 12 }), { minLength: 20, maxLength: 20 }),
        fc.nat(),
        (rows, at) => {
          const cases = rows.map((words) => says(words.join(' ')));
          const own = createPromptGate({ training: cases.slice(0, 10), withheld: cases.slice(10), known: [] });
          const known = new Set(rows.slice(0, 10).flatMap((words) => shinglesOf(words)));
          const copied = shinglesOf(rows[10 + (at % 10)] ?? []).find((shingle) => !known.has(shingle));
          if (copied === undefined) return;
          expect(own.admit(`As in ${copied} or so.`, 'training').ok).toBe(false);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('a prompt that holds words of a case', () => {
  const stands = holdsTextOf(['You choose. Example: what is the water level of lake Onega', 'Request: help']);
  it.each([
    [WITHHELD, true],
    [says('help'), true],
    [TRAINING, false],
    [CHINESE, false],
  ])('is found: %j', (one, expected) => {
    expect(stands(one)).toBe(expected);
  });
});

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
  if (name === 'select-tools') return loaded['select-tools'].render(VALUES[name]).system;
  return loaded['plan-steps'].render(VALUES['plan-steps']).system;
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

/** How much longer a prompt may become: of what is sent, and never passed by a candidate. */
describe('the token limit', () => {
  const RULE = 'For what runs, take the flow.';
  const helps = (system: string) => system.includes('Answer: {"selected_tools": ["read_flow"]}');
  const proposal = () => JSON.stringify({ diagnosis: 'flow is missed', instructions: `${RULE} ${PLACES}` });

  async function tuned(maxTokensGrowth: number) {
    const model = aModel({ helps, proposal });
    const { prompts } = await tune(tuneOptions(model, { maxTokensGrowth, rounds: 2 }));
    const sizes = model.calls.filter((call) => !isProposal(call)).map(({ prompt }) => model.countTokens(prompt.system));
    return { report: prompts[0], tried: prompts[0]?.tried ?? [], first: sizes[0] ?? 0, largest: Math.max(...sizes) };
  }

  describe('the tokens that a prompt may grow by', () => {
    it('are a share of its stable part as it is sent', async () => {
      const { report, first } = await tuned(0.5);
      expect(report?.tokens.allowedGrowth).toBe(Math.floor(0.5 * first));
    });

    it('are not passed by any prompt that a model sees: a candidate that is longer is refused, and says why', async () => {
      const { report, tried, first, largest } = await tuned(0.01);
      expect(report).toMatchObject({ isChanged: false });
      const examples = tried.filter(({ kind }) => kind === 'examples');
      expect(examples.length).toBeGreaterThan(0);
      for (const { verdict, issues } of examples) {
        expect(verdict).toBe('refused');
        expect(issues?.join()).toMatch(/the prompt grows by \d+ tokens; \d are allowed/u);
      }
      expect(largest).toBeLessThanOrEqual(first * 1.01);
    });

    it('leave room for an example where they are enough', async () => {
      const { report, first, largest } = await tuned(0.5);
      expect(report).toMatchObject({ isChanged: true });
      expect(largest).toBeGreaterThan(first);
      expect(largest).toBeLessThanOrEqual(first * 1.5);
    });
  });
});
