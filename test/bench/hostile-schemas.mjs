/**
 * Random schemas that try to take long: graphs of references, combinations, patterns and defaults, each with small hostile
 * values. Tells the longest time that one of them took the processor, which is how long all other requests wait.
 * `node test/bench/hostile-schemas.mjs [schemas] [seed]`; ends with 1 above 250 ms. Needs `npm run build`.
 */

import { finishOutput } from '../../dist/agents/sandbox/finish-output.js';
import { prepareArguments } from '../../dist/agents/sandbox/prepare-arguments.js';
import { fieldsOf, fits, subschemaAt } from '../../dist/core/catalog/schema/paths.js';
import { secretArgumentNames } from '../../dist/core/catalog/schema/secrets.js';
import { parseReading } from '../../dist/core/catalog/sources/source.js';
import { gbnfFromSchema } from '../../dist/core/model/embedded/gbnf.js';
import { planAnswerSchema } from '../../dist/core/planning/plan-schema.js';
import { renderTool } from '../../dist/core/planning/render-tool.js';
import { createRandom } from '../../dist/eval/random.js';

const MOST_MILLISECONDS = 250;
const [count = 300, seed = 1] = process.argv.slice(2).map(Number);

const random = createRandom(seed);
const below = (limit) => Math.floor(random() * limit);
const pick = (list) => list[below(list.length)];
const times = (number, make) => Array.from({ length: number }, (_, place) => make(place));

const PATTERNS = ['^(a+)+$', 'a*a*b', '(a|b){500}', '(\\p{L}|a){300}', '((a{30}){30})', '(.*a){12}$', '[^b]*b[^c]*c'];
const KEYS = ['a', 'b', 'c', 'next', 'items'];

function hostileSchema() {
  const size = 2 + below(pick([6, 30, 300]));
  const reference = (place) => ({
    $ref: `#/$defs/d${random() < 0.8 ? Math.min(size - 1, place + 1 + below(2)) : below(size)}`,
  });
  const leaf = () =>
    pick([
      { type: 'string', pattern: pick(PATTERNS) },
      { uniqueItems: true },
      { enum: times(1 + below(200), (n) => ({ n })) },
      { default: times(below(50), String) },
      {},
    ]);
  const node = (place, depth = 0) => {
    const part = () => (random() < 0.75 || depth > 1 ? reference(place) : node(place, depth + 1));
    const parts = () => times(1 + below(3), part);
    const fields = () => Object.fromEntries(times(1 + below(4), () => [pick(KEYS), part()]));
    return pick([
      () => ({ allOf: parts(), properties: fields() }),
      () => ({ anyOf: parts() }),
      () => ({ oneOf: parts() }),
      () => ({ properties: fields(), additionalProperties: part(), required: [pick(KEYS)] }),
      () => ({ items: part(), uniqueItems: true }),
      () => ({ patternProperties: { [pick(PATTERNS)]: part(), '': part() } }),
      () => ({ properties: fields(), if: part(), not: part(), unevaluatedProperties: false }),
      () => ({ contains: part(), propertyNames: leaf() }),
      () => ({ dependentSchemas: fields(), properties: { a: { default: {} } } }),
      leaf,
    ])();
  };
  return {
    ...reference(-1),
    type: 'object',
    $defs: Object.fromEntries(times(size, (place) => [`d${place}`, node(place)])),
  };
}

function hostileValue(depth = 0) {
  const kind = depth > 12 ? 4 : below(5);
  if (kind === 0) return times(below(6), () => hostileValue(depth + 1));
  if (kind === 1) return 'a'.repeat(below(3_000));
  if (kind === 2) return times(below(2_000), (n) => ({ n }));
  if (kind === 3) return chain(below(60));
  return Object.fromEntries(KEYS.map((key) => [key, depth > 3 ? below(9) : hostileValue(depth + 1)]));
}

function chain(levels) {
  return levels === 0 ? { a: 1 } : { [pick(KEYS)]: chain(levels - 1), b: 'a' };
}

/** Of the processor, so that a busy machine does not count. */
function cpuSince(start) {
  const { user, system } = process.cpuUsage(start);
  return Math.round((user + system) / 1_000);
}

let taken = 0;
const slowest = [];
const limits = { maxOutputBytes: 262_144, outputCheck: 'warn' };
for (let place = 0; place < count; place++) {
  const schema = hostileSchema();
  const measure = (step, work) => {
    const start = process.cpuUsage();
    const result = work();
    slowest.push({ milliseconds: cpuSince(start), step, place });
    return result;
  };
  const { tools } = measure('parse', () =>
    parseReading({
      origin: 'random',
      entries: [{ name: 'tool', toolType: 'builtin', inputSchema: schema, outputSchema: schema }],
    }),
  );
  const tool = tools[0]?.tool;
  if (!tool) continue;
  taken += 1;
  const input = tool.inputSchema;
  measure('first check', () => prepareArguments(tool, {}));
  measure('render', () => renderTool(tool));
  measure('plan schema', () => planAnswerSchema([tool], { canNeedTools: true }));
  measure('grammar', () => gbnfFromSchema(planAnswerSchema([tool], { canNeedTools: false })));
  measure('fields', () => fieldsOf(input, { steps: 6, fields: 400 }));
  measure('places', () =>
    times(5, () =>
      subschemaAt(
        input,
        times(6, () => pick(KEYS)),
      ),
    ),
  );
  measure('fit', () => fits(input, input));
  measure('secrets', () => secretArgumentNames(input));
  for (const value of times(4, () => hostileValue())) {
    measure('arguments', () => prepareArguments(tool, value));
    measure('result', () => finishOutput(tool, value, limits));
  }
}
slowest.sort((one, other) => other.milliseconds - one.milliseconds);
const steps = [...new Set(slowest.map(({ step }) => step))].map((step) => slowest.find((one) => one.step === step));
for (const { step, milliseconds, place } of steps)
  console.log(`${String(milliseconds).padStart(6)} ms  ${step} (schema ${place})`);
console.log(`${count} schemas, ${taken} taken, the others refused; longest pause ${slowest[0].milliseconds} ms`);
process.exitCode = slowest[0].milliseconds > MOST_MILLISECONDS ? 1 : 0;
