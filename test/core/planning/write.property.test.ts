/** A valid first plan is never changed: whatever the request says, one completion is asked for, and its steps are the plan. */
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createScriptedModel } from '../../support/scripted-model.js';
import { makeTool, plannerOf } from '../selection/setup.js';

const MESSAGES: readonly ((number: number, other: number, name: string, day: string) => string)[] = [
  (number, other, name, day) => `Delete ${number} and ${other} of ${name} before ${day}, but keep 130`,
  (number, other, name, day) => `Lösche ${number} und ${other} von ${name} vor dem ${day}, aber behalte 130`,
  (number, other, name, day) => `Supprime ${number} et ${other} de ${name} avant le ${day}, mais garde 130`,
  (number, other, name, day) => `Borra ${number} y ${other} de ${name} antes del ${day}, pero conserva 130`,
  (number, other, name, day) => `Apague ${number} e ${other} de ${name} antes de ${day}, mas mantenha 130`,
  (number, other, name, day) => `Удали ${number} и ${other} у ${name} до ${day}, но оставь 130`,
  (number, other, name, day) => `${day}までに${name}の${number}と${other}を削除して、130は残してください`,
  (number, other, name, day) => `${day}之前删除${name}的${number}和${other}，不要删除130`,
];

const tools = [
  makeTool('delete_records', {
    inputSchema: {
      type: 'object',
      properties: {
        ids: { type: 'array', items: { type: 'integer' } },
        account_id: { type: 'string' },
        before: { type: 'string', format: 'date' },
        mode: { enum: ['soft', 'hard'] },
      },
      required: ['ids'],
    },
  }),
  makeTool('find_person', {
    inputSchema: {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'number' } },
      required: ['name'],
    },
    outputSchema: { type: 'object', properties: { account_id: { type: 'string' } } },
  }),
];

const number = fc.integer({ min: 1, max: 999 });
const name = fc.constantFrom('Ann', 'Jürgen', 'Zoë', 'Анна', '佐藤', '王芳', 'Müller & Söhne');
const day = fc.constantFrom('2026-11-24', '3/4/2027', '24.12.2026', '11月24日');
const message = fc
  .tuple(fc.constantFrom(...MESSAGES), number, number, name, day)
  .map(([write, ...values]) => write(...values));
const calls = {
  delete_records: fc.record(
    {
      ids: fc.array(number, { minLength: 1, maxLength: 4 }),
      account_id: fc.constantFrom('acc-1', '${s1.account_id}', 'Ann'),
      before: fc.constantFrom('2026-11-24', '2020-01-01'),
      mode: fc.constantFrom('soft', 'hard'),
    },
    { requiredKeys: ['ids'] },
  ),
  find_person: fc.record({ name, age: fc.integer({ min: 0, max: 130 }) }, { requiredKeys: ['name'] }),
};
const find = calls.find_person.map((values) => ({ tool: 'find_person', arguments: values as Record<string, unknown> }));
const remove = calls.delete_records.map((values) => ({
  tool: 'delete_records',
  arguments: values as Record<string, unknown>,
}));
/** The first step finds a person, so that others may refer to it. */
const steps = fc
  .tuple(find, fc.array(fc.oneof(find, remove), { maxLength: 4 }))
  .map(([first, more]) => [first, ...more].map((step, place) => ({ id: `s${place + 1}`, ...step })));

it('a valid first plan is the plan, with one completion', async () => {
  await fc.assert(
    fc.asyncProperty(message, steps, async (message, steps) => {
      const answer = JSON.stringify({ kind: 'plan', steps });
      const model = createScriptedModel({ answers: () => answer });
      const options = { passthroughTools: 8, planning: 'write' } as const;
      const result = await plannerOf({ tools, model, options }).plan({ message, today: '2026-11-23' });
      expect(model.calls).toHaveLength(1);
      expect(
        result.kind === 'plan' && result.steps.map(({ id, tool, arguments: values }) => [id, tool, values]),
      ).toEqual(steps.map(({ id, tool, arguments: values }) => [id, tool, values]));
    }),
    { numRuns: 60 },
  );
}, 120_000);
