// Tools of the test servers, whatever revision they speak. `extra` has `notify`, `log`, `token`, `signal` and
// `ask`.

const text = (words) => ({ content: [{ type: 'text', text: words }] });

/** One of each kind. */
const MIXED = [
  { type: 'text', text: 'Here it is' },
  { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png', annotations: { audience: ['user'] } },
  { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
  { type: 'resource_link', uri: 'file:///a.txt', name: 'a' },
  { type: 'resource', resource: { uri: 'file:///b.bin', mimeType: 'application/zip', blob: 'UEsDBA==' } },
  { type: 'resource', resource: { uri: 'file:///c.txt', mimeType: 'text/plain', text: 'words' } },
];

/** @param journal takes one line an event; @param refuse throws an error of the protocol */
export const createTools = ({ journal, refuse }) => ({
  structured: (input) => ({ content: [], structuredContent: { got: input } }),
  json_text: () => text('{"ids": ["a", "b"]}'),
  plain_text: () => text('[1] is no JSON'),
  /** Answers with what it is called with. */
  repeat: (answer) => answer,
  picture: () => ({ content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] }),
  mixed: () => ({ content: MIXED, structuredContent: { level: 3 }, _meta: { 'example.com/trace': 'abc' } }),
  blocks: () => ({ content: MIXED }),
  large: ({ base64 = 0, text = 0, meta = 0 }) => ({
    content: [
      { type: 'text', text: 'é'.repeat(text) },
      { type: 'image', data: 'A'.repeat(base64), mimeType: 'image/png' },
      { type: 'text', text: 'the end' },
    ],
    ...(meta > 0 ? { _meta: { 'example.com/trace': 'a'.repeat(meta) } } : {}),
  }),
  many: ({ count }) => ({ content: Array(count).fill({ type: 'image', data: 'AAAA', mimeType: 'image/png' }) }),
  error_picture: () => ({ content: MIXED.slice(0, 2), isError: true, _meta: { 'example.com/trace': 'abc' } }),
  slow: async ({ steps, pauseMs = 20 }, { notify, token }) => {
    for (let progress = 1; progress <= steps; progress++) {
      const params = { progressToken: token, progress, total: steps, message: `step ${progress}` };
      await notify({ method: 'notifications/progress', params });
      // Most clients forget what they wait for as soon as they have the answer.
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    return text('done');
  },
  report: async ({ words }, { notify, token }) => {
    await notify({ method: 'notifications/progress', params: { progressToken: token, progress: 1, message: words } });
    return text('done');
  },
  chatty: async ({ words }, { log }) => {
    await log('warning', { words }, 'db');
    return text('done');
  },
  empty: () => ({ content: [] }),
  error: () => ({ ...text('no such note'), isError: true }),
  refuse,
  die: () => process.exit(1),
  hang: (_, { signal }) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        journal('cancelled');
        resolve(text('too late'));
      });
    }),
  pid: () => text(String(process.pid)),
  /** Asks its client's person what it is called with, and tells what was said. */
  ask: async (form, { ask }) => text(JSON.stringify(await ask(form))),
  ask_often: async ({ times, form }, { ask }) => {
    const said = [];
    for (let time = 0; time < times; time++) said.push((await ask(form)).action);
    return text(JSON.stringify(said));
  },
});

const RESOURCES = ['a', 'b'].map((name) => ({ uri: `note:///${name}`, name }));

/** What the servers offer besides tools, by method; lists have one item a page. */
export const OFFERS = {
  'resources/list': ({ cursor = '0' } = {}) => {
    const next = Number(cursor) + 1;
    const resources = RESOURCES.slice(next - 1, next);
    return { resources, ...(next < RESOURCES.length ? { nextCursor: String(next) } : {}) };
  },
  'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'note:///{name}', name: 'notes' }] }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, mimeType: 'text/plain', text: `the text of ${uri}` }] }),
  'prompts/list': () => ({ prompts: [{ name: 'sum_up', arguments: [{ name: 'note', required: true }] }] }),
  'prompts/get': ({ arguments: { note } }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Sum up ${note}` } }],
  }),
  'completion/complete': ({ argument: { value } }) => ({ completion: { values: [`${value}lpha`] } }),
};
