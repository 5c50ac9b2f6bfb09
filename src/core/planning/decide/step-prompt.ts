/** The prompt for the arguments of one step: its tool, the times that the request names, and the earlier steps. */
import { isNumber } from '../../catalog/schema/json.js';
import { fittedSchemas } from '../../catalog/schema/normalise.js';
import type { Field } from '../../catalog/schema/paths.js';
import { shownTool } from '../../catalog/shown.js';
import type { JsonSchema, Tool } from '../../catalog/tool.js';
import { literal, oneLine } from '../../visible-text.js';
import { NOTHING_SAID } from '../ground.js';
import { renderPath } from '../references.js';
import { renderType } from '../render-tool.js';
import { computedNumbers, lengthTexts } from './computed-numbers.js';
import { lengthArguments } from './options.js';
import type { Said } from './said.js';

const MAX_DESCRIPTION = 200;
const MAX_RESULT = 200;

interface EarlierStep {
  readonly id: string;
  readonly tool: Tool;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The fields of its result that an argument of the step may take. */
  readonly offered: readonly Field[];
}

type Values = Record<'tool' | 'facts' | 'context' | 'message', string>;

/** An argument of another step that the result of this one provides. */
export interface Served {
  readonly tool: Tool;
  readonly argument: string;
}

/** The variables of `fill-arguments`. @param about.serves the argument of another step that the result provides */
export function stepPrompt(
  tool: Tool,
  about: {
    ask: string;
    said: Said;
    context: string;
    earlier: readonly EarlierStep[];
    serves: Served | undefined;
  },
): Values {
  const { ask, said, context, earlier, serves } = about;
  const shown = shownTool(tool);
  const { input } = fittedSchemas(shown);
  const type = renderType(input, input);
  const text = descriptionOf(tool);
  const facts = [
    ...(serves ? [`For: ${serves.argument} of ${serves.tool.name}`] : []),
    ...timesLine(ask, { said, input }),
    ...earlier.map(earlierLine),
  ];
  return {
    tool: `${tool.name}${type === 'object' ? '()' : `(${type})`}${text ? `: ${text}` : ''}`,
    facts: facts.map((line) => `${oneLine(line)}\n`).join(''),
    context,
    message: ask,
  };
}

/** The same without a request: the tool that waits for the result says what it is for. */
export function impliedPrompt(tool: Tool, serves: Served): Values {
  const ask = descriptionOf(serves.tool) || serves.tool.name;
  return stepPrompt(tool, { ask, serves, said: NOTHING_SAID, earlier: [], context: '' });
}

function descriptionOf(tool: Tool): string {
  return oneLine(shownTool(tool).description).slice(0, MAX_DESCRIPTION);
}

function timesLine(ask: string, { said, input }: { said: Said; input: JsonSchema }): string[] {
  const shown = ({ date, time }: Said['times'][number]['start']) => [date, time?.slice(0, 5)].filter(Boolean).join(' ');
  const times = said.times.map(
    ({ text, start, end }) => `"${text}" is ${shown(start)}${end ? ` to ${shown(end)}` : ''}`,
  );
  const own = said.durations.filter(({ text }) => ask.toLowerCase().includes(text.toLowerCase()));
  const facts = [...new Set([...times, ...lengthsFor(input, own)])];
  return facts.length > 0 ? [`Times: ${facts.join('; ')}`] : [];
}

/**
 * The lengths of time in the units of the arguments that take one: `"two days" is hours 48`. Of 36 unseen requests with a length
 * 22 are planned right, in place of 15, and none worse (`test/bench/plans.mjs --set test/bench/lengths/hydrology.jsonl`).
 */
function lengthsFor(input: JsonSchema, durations: Said['durations']): string[] {
  return lengthArguments(input).flatMap(({ name, schema }) => {
    const said = { times: [], numbers: [], durations };
    const lengths = isNumber(schema) ? computedNumbers(name, schema, said) : lengthTexts(schema, said);
    return lengths.map(({ value, said }) => `"${said}" is ${name} ${value}`);
  });
}

function earlierLine({ id, tool, arguments: values, offered }: EarlierStep): string {
  const { output = {} } = fittedSchemas(tool);
  const given = Object.entries(values).map(([name, value]) => `${name}: ${literal(value)}`);
  const fields = offered.map(
    ({ path, schema }) => `${renderPath(path)}: ${renderType(schema, output, { comments: false })}`,
  );
  const returned = fields.length > 0 ? ` returns ${`{${fields.join(', ')}}`.slice(0, MAX_RESULT)}` : '';
  return `Earlier: ${id} = ${tool.name}(${given.join(', ')})${returned}`;
}

/** The title or description of an argument with its name, else the name alone. */
export function describe(tool: Tool, name: string): string {
  const schema = Object(Object(fittedSchemas(shownTool(tool)).input.properties)[name]);
  const text = [schema.title, schema.description].find((one) => typeof one === 'string' && one !== '');
  return oneLine(text === undefined ? name : `${text} (${name})`);
}
