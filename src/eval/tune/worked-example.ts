/** A training case as a worked example: what the model is asked, and the right answer in the form that it must have. */
import type { Catalog } from '../../core/catalog/catalog.js';
import { isObject } from '../../core/catalog/schema/json.js';
import type { Tool } from '../../core/catalog/tool.js';
import type { Options } from '../../core/options.js';
import { renderContext } from '../../core/prompts/context.js';
import { createLabels } from '../../core/selection/ladder.js';
import { oneLine } from '../../core/visible-text.js';
import type { EvaluationCase } from '../case.js';
import type { TunedPrompt } from './prompt-draft.js';

export type ExampleOf = (one: EvaluationCase) => string | undefined;

/**
 * Undefined where the case does not tell the whole right answer (a question or a refusal in whose words?), names a tool
 * that is not in the catalogue, or holds double braces, which a prompt file would take for a place to fill.
 */
export function createExamples(
  name: TunedPrompt,
  catalogs: ReadonlyMap<string, Catalog>,
  options: Pick<Options, 'historyMessages' | 'historyCharacters'>,
): ExampleOf {
  const render = name === 'select-tools' ? selectionAnswer : planAnswer;
  const labels = new Map([...catalogs].map(([suite, { tools }]) => [suite, createLabels(tools)]));
  const byName = new Map(
    [...catalogs].map(([suite, { tools }]) => [suite, new Map(tools.map((tool) => [tool.name, tool]))]),
  );
  return (one) => {
    const tools = one.expected.tools.map((tool) => byName.get(one.suite)?.get(tool));
    const found = tools.filter((tool) => tool !== undefined);
    if (found.length < tools.length) return undefined;
    const answer = render(one, found, (tool) => labels.get(one.suite)?.labelOf(tool) ?? tool.name);
    if (answer === undefined) return undefined;
    const asked = `${renderContext(one.request, options)}Request: ${oneLine(one.request.message)}`;
    return /\{\{|<!--/u.test(asked) ? undefined : `${answer.before}${asked}\nAnswer: ${answer.text}`;
  };
}

interface RightAnswer {
  /** Stands before the request. */
  before: string;
  text: string;
}

function selectionAnswer(
  { expected }: EvaluationCase,
  tools: readonly Tool[],
  labelOf: (tool: Tool) => string,
): RightAnswer | undefined {
  if (expected.kind === 'clarification') return undefined;
  const names = tools.length === 0 ? ['{{none}}'] : tools.map(labelOf);
  return { before: '', text: `{"selected_tools": [${names.map((name) => JSON.stringify(name)).join(', ')}]}` };
}

function planAnswer({ expected }: EvaluationCase, tools: readonly Tool[]): RightAnswer | undefined {
  const { steps = [], kind = 'plan' } = expected;
  if (kind !== 'plan' || steps.length === 0 || steps.some((step) => step.argumentsUnknown)) return undefined;
  const written = steps.map((step, place) => ({
    id: `s${place + 1}`,
    tool: step.tool,
    arguments: toReferences(step.arguments, place),
  }));
  const text = JSON.stringify({ kind: 'plan', steps: written });
  return text.includes('{{') ? undefined : { before: `With ${tools.map(signatureOf).join(', ')}. `, text };
}

/** `find_page (title)`: the tools of an example are not those of the request at hand. */
function signatureOf({ name, inputSchema: { properties } }: Tool): string {
  return `${name} (${isObject(properties) ? Object.keys(properties).join(', ') : ''})`;
}

/** `"$0.items[0].id"` -> `"${s1.items[0].id}"`. Only earlier steps can be meant: `$100` is a price. */
function toReferences(value: unknown, step: number): unknown {
  if (typeof value === 'string') {
    return value.replace(/\$(\d+)((?:\.[\p{L}\p{N}_-]+|\[\d+\])*)/gu, (whole, place: string, path: string) =>
      Number(place) < step ? `\${s${Number(place) + 1}${path}}` : whole,
    );
  }
  if (Array.isArray(value)) return value.map((inner) => toReferences(inner, step));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toReferences(inner, step)]));
}
