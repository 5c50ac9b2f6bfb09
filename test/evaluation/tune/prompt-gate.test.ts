import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createPromptGate, holdsTextOf } from '../../../src/evaluation/tune/prompt-gate.js';
import { shinglesOf, tokensOf } from '../../../src/evaluation/tune/shingles.js';
import { splitCases } from '../../../src/evaluation/tune/split-cases.js';
import { aCase } from '../setup.js';

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
