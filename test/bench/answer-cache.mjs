/**
 * A model that remembers its answers in a file, so that a benchmark can be stopped, resumed and repeated with one part
 * taken away: only what was never asked costs the model's time. One JSON line an answer.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

export function rememberAnswers(model, file) {
  mkdirSync(dirname(file), { recursive: true });
  const known = new Map();
  if (existsSync(file)) {
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      if (!line.endsWith('}')) continue; // A line cut by a stop is asked again.
      const { key, value } = JSON.parse(line);
      known.set(key, value);
    }
  }
  const remember = (key, value) => {
    known.set(key, value);
    appendFileSync(file, `${JSON.stringify({ key, value })}\n`);
    return value;
  };
  const keyOf = (...parts) =>
    createHash('sha256')
      .update(JSON.stringify([model.id, ...parts]))
      .digest('base64url')
      .slice(0, 22);
  return {
    ...model,
    async complete(request) {
      const { prompt, schema, maxTokens } = request;
      const key = keyOf('complete', prompt, schema, maxTokens);
      return known.get(key) ?? remember(key, await model.complete(request));
    },
    async openReader(request) {
      const base = keyOf('reader', request.prompt, request.opening);
      let reader;
      const open = async () => (reader ??= await model.openReader(request));
      const tokenizer = await tokenizerOf(model);
      return {
        tokenize: tokenizer,
        usage: () => reader?.usage() ?? { calls: 1, read: 0, cached: 0, written: 0 },
        async weigh(path, candidates) {
          const key = keyOf(base, path, candidates);
          return (
            known.get(key)?.map((weight) => weight ?? -Infinity) ??
            remember(key, await (await open()).weigh(path, candidates))
          );
        },
        close: async () => reader?.close(),
      };
    },
  };
}

const tokenizers = new WeakMap();

/** Tokenizing needs no prompt; one reader is opened for it once. */
async function tokenizerOf(model) {
  if (!tokenizers.has(model)) {
    const reader = await model.openReader({ prompt: { system: 'x', user: 'x' }, opening: '"' });
    await reader.close();
    tokenizers.set(model, (text) => reader.tokenize(text));
  }
  return tokenizers.get(model);
}
