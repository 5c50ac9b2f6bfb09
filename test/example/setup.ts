/** A real Winnow over HTTP with one tool that reads water levels among many of a garden, and answers of a scripted model. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serve } from '../cli/serve-setup.js';
import { send } from '../support/server-behaviours.js';
import { temporaryFolder } from '../support/temporary-folder.js';

export const TASK = 'What is the water level of the Sauer?';
export const ANSWER = 'It is 2.4 m high.';

const tool = (name: string, description: string, risk = 'low') => ({
  ...{ name, description, toolType: 'builtin', risk },
  inputSchema: { type: 'object', properties: { station: { type: 'string' } }, required: ['station'] },
});
const TOOLS = [
  tool('read_level', 'Water level of a station.'),
  tool('open_gate', 'Opens the gate of a station.', 'high'),
  ...Array.from({ length: 30 }, (_, place) => tool(`garden_${place}`, `Waters bed ${place} of the garden.`)),
];
const MODULE = `
export const read_level = ({ station }) => ({ station, metres: 2.4 });
export const open_gate = ({ station }) => ({ station, isOpen: true });
`;

/** @param words of its model */
export function serveTools(...words: string[]) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'tools.json'), JSON.stringify(TOOLS));
  writeFileSync(join(folder, 'tools.mjs'), MODULE);
  return serve(...words, '--catalog', join(folder, 'tools.json'), '--set', `toolsModule=${join(folder, 'tools.mjs')}`);
}

/** An answer of OpenAI's Chat API. */
export const chat = (message: object) =>
  send(200, {
    ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
    choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
export const chatCall = (name: string, input: object) =>
  chat({
    tool_calls: [{ id: `call-${name}`, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
  });
