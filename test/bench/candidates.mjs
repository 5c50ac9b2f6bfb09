/**
 * How many expected arguments are among the candidates of `decide`, without a model: what is not there can't be chosen. Texts
 * may be composed, so they need not be there. References to steps, defaults and what may be left out do not count.
 *
 *   npm run build && node test/bench/candidates.mjs [--set bfcl-given ...] [--half learn|measure|all] [--show] [--benchmarks FOLDER]
 *
 * `--show` writes each argument that is missing.
 */
import { parseArgs } from 'node:util';
import { isNumber, isObject } from '../../dist/core/catalog/schema/json.js';
import { fittedSchemas } from '../../dist/core/catalog/schema/normalise.js';
import { choicesFor } from '../../dist/core/planning/decide/options.js';
import { readSaid } from '../../dist/core/planning/decide/said.js';
import { isClosed, isText, plainSchema } from '../../dist/core/planning/decide/sources.js';
import { formOf } from '../../dist/core/planning/times.js';
import { isSameValue } from '../../dist/eval/values.js';
import { openCatalog, openSet, SET_FLAGS } from './sets.mjs';
import { renderTable } from './statistics.mjs';

const SETS = ['bfcl-given', 'acebench-given', 'nestful-given', 'hydrology', 'assistant', 'coding-agent'];
const { values: flags } = parseArgs({ options: { ...SET_FLAGS, show: { type: 'boolean', default: false } } });

/** An expected argument -> its scalars, each with its place in the schema. */
function scalarsIn(place, value) {
  const schema = plainSchema(place.schema, place.root);
  const inside = (name, part, inner) =>
    scalarsIn({ ...place, name, schema: part, path: `${place.path}.${name}` }, inner);
  if (Array.isArray(value)) return value.flatMap((item) => scalarsIn({ ...place, schema: schema.items }, item));
  if (isObject(value))
    return Object.entries(value).flatMap(([name, part]) => inside(name, Object(schema.properties)[name], part));
  const isReference = typeof value === 'string' && /^\$\d/u.test(value);
  return isReference || schema.default === value ? [] : [{ ...place, schema, value }];
}

function kindOf(schema) {
  if (isClosed(schema)) return 'enum';
  if (isNumber(schema)) return 'number';
  if (schema.type === 'boolean') return 'boolean';
  return isText(schema) && formOf(schema) !== undefined ? 'time' : 'text';
}

async function* argumentsOf({ cases }) {
  for (const { id, request, expected, catalogFile } of cases) {
    const { catalog } = await openCatalog(catalogFile);
    const said = await readSaid({ today: '2025-11-21', ...request });
    const texts = [
      request.message,
      ...Object.values(request.entities ?? {}).filter((value) => typeof value === 'string'),
    ];
    const context = { said, texts, earlier: [], results: [], handles: new Map(), timeZone: request.timeZone };
    for (const step of expected.steps ?? []) {
      const tool = catalog.tools.find(({ name }) => name === step.tool);
      const root = tool && fittedSchemas(tool).input;
      for (const [name, value] of Object.entries(root ? step.arguments : {})) {
        const accepted = step.argumentsAnyOf?.[name] ?? [];
        if (accepted.includes('')) continue;
        const place = { name, path: name, schema: Object(root.properties)[name], root, required: true };
        for (const one of scalarsIn(place, value)) {
          const choices = choicesFor(one, { root, context, taken: new Map() }).map(({ candidate }) => candidate.value);
          const wanted = isObject(value) || Array.isArray(value) ? [one.value] : [value, ...accepted];
          const isThere = choices.some((choice) =>
            wanted.some((right) => isSameValue(choice, right, { ignoreCase: true })),
          );
          yield { id, kind: kindOf(one.schema), path: `${step.tool}.${one.path}`, value: one.value, isThere };
        }
      }
    }
  }
}

const rows = [];
for (const name of flags.set ?? SETS) {
  const set = openSet(name, flags);
  if (!set) continue;
  const kinds = new Map();
  for await (const { id, kind, path, value, isThere } of argumentsOf(set)) {
    const [all = 0, there = 0] = kinds.get(kind) ?? [];
    kinds.set(kind, [all + 1, there + Number(isThere)]);
    if (flags.show && !isThere) console.log(`${id} ${kind} ${path}: ${JSON.stringify(value)}`);
  }
  for (const [kind, [all, there]] of [...kinds].sort()) rows.push([name, kind, all, there]);
}
console.log(renderTable(['set', 'kind', 'expected', 'among the candidates'], rows));
