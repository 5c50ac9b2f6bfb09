// Tools of the test servers, whatever revision they speak. `extra` has `notify`, `log`, `token` and `signal`.

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
  slow: async ({ steps }, { notify, token }) => {
    for (let progress = 1; progress <= steps; progress++) {
      const params = { progressToken: token, progress, total: steps, message: `step ${progress}` };
      await notify({ method: 'notifications/progress', params });
      // A client forgets what it waits for as soon as it has the answer.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return text('done');
  },
  chatty: async ({ words }, { log }) => {
    await log('warning', { words }, 'db');
    await new Promise((resolve) => setTimeout(resolve, 20));
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
});
