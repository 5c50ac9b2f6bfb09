/**
 * Keeps the readings of a model in a file (`--kept FILE`), so that a changed build reads only what it reads otherwise. Of 44 cases
 * read before, a run takes seconds; its seconds and tokens are then those of the difference.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { noUsage, wrapModel } from '../../dist/core/model/model.js';

/** @returns the model, whose readers look into the file first. Readings that the model itself keeps are not used. */
export async function keepReadings(model, file) {
  const kept = readKept(file);
  const keep = (key, value) => {
    kept.set(key, value);
    appendFileSync(file, `${JSON.stringify([key, value])}\n`);
  };
  const first = await model.openReader({ prompt: { system: '', user: 'Hello' }, opening: '' });
  const { tokenize, detokenize } = first;
  await first.close();
  const openReader = async (request, open) => {
    const { prompt, opening } = request;
    const keyOf = (kind, path) => hashOf([model.id, prompt.system, prompt.user, opening, kind, path]);
    let beginning;
    let real;
    const reader = () => (beginning ??= open(request).then((one) => (real = one)));
    return {
      tokenize,
      detokenize,
      async weigh(path, candidates, ahead) {
        const key = keyOf('weigh', path);
        const known = kept.get(key) ?? {};
        const missing = [...new Set(candidates)].filter((token) => known[token] === undefined);
        if (missing.length > 0) {
          const found = await (await reader()).weigh(path, missing, ahead);
          keep(key, {
            ...known,
            ...Object.fromEntries(missing.map((token, place) => [token, Math.max(found[place], LEAST)])),
          });
        }
        return candidates.map((token) => kept.get(key)[token]);
      },
      async likeliest(path, count, isWriting) {
        const key = keyOf(`likeliest ${count}`, path);
        if (!kept.has(key)) keep(key, await (await reader()).likeliest(path, count, isWriting));
        return kept.get(key);
      },
      usage: () => real?.usage() ?? noUsage(),
      close: async (found) => (await beginning?.catch(() => undefined))?.close(found),
    };
  };
  const wrapped = wrapModel(model, { complete: (request) => model.complete(request), openReader });
  return { ...wrapped, readings: undefined };
}

/** JSON has no infinite numbers. */
const LEAST = -1e9;

function hashOf(parts) {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64').slice(0, 24);
}

/** A line that a killed run wrote in part is left out. */
function readKept(file) {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return new Map(lines.filter((line) => line.endsWith(']')).map((line) => JSON.parse(line)));
}
