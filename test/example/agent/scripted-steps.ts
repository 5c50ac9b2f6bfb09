/** The steps of a model that does the task well, in place of a real one. */
const call = (tool: string, given: Record<string, unknown>) => JSON.stringify({ tool, arguments: given });
const answer = (text: string) => JSON.stringify({ answer: text });

const DELETE = call('file_delete', { path: 'src/price-2019.js' });

export const SCRIPTED_STEPS = [
  call('tool_search', { query: 'delete a file' }),
  call('tool_enable', { names: ['file_delete'] }),
  DELETE,
  answer('Deleting src/price-2019.js needs an approval.'),
  DELETE,
  answer('I have deleted src/price-2019.js.'),
];
