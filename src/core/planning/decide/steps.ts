/** Turns the tools of the asks into the steps of a plan: producers before consumers, arguments, the check. */
import { isGiven, type Provision, producerGraph } from '../../catalog/producers.js';
import { RISKS } from '../../catalog/risk.js';
import { isObject, sameJson } from '../../catalog/schema/json.js';
import { fittedSchemas } from '../../catalog/schema/normalise.js';
import { fillDefaults, subschemaAt } from '../../catalog/schema/paths.js';
import { shownDescription } from '../../catalog/summary.js';
import type { Tool } from '../../catalog/tool.js';
import { renderPhrase } from '../../language.js';
import type { SourceName } from '../../result.js';
import { oneLine } from '../../visible-text.js';
import { checkPlan, levelsOf } from '../check-plan.js';
import { renderPath } from '../references.js';
import { renderType } from '../render-tool.js';
import type { Written } from '../write.js';
import { decideArguments, OPENING } from './arguments.js';
import { findTool, type ToolOfAsk } from './choose-tools.js';
import { isNumberIdentifier, withWantedItems } from './given.js';
import { awaitedArguments, canProvide, chooseProvision, saidIn } from './needs.js';
import { spansOf, type TakenWords } from './options.js';
import type { Deciding } from './read.js';
import { readSaid, type Said } from './said.js';
import { plainSchema, resultFields, type SourceContext } from './sources.js';

/** A step in progress, with its required arguments that have no source. */
interface Draft {
  readonly id: string;
  readonly tool: Tool;
  readonly arguments: Record<string, unknown>;
  readonly from: Record<string, SourceName>;
  readonly purpose: string;
  readonly missing: readonly string[];
  readonly taken: TakenWords;
  /** The argument of another step that its result provides; undefined for the tool of an ask. */
  readonly serves: Served | undefined;
}

interface Served {
  readonly tool: Tool;
  readonly argument: string;
}

interface About {
  readonly ask: string;
  /**
   * Other tools that may do what is asked for, likeliest first. As a producer, one of these comes before those of the graph: of
   * 67 development requests one more is right and two get nearer (`test/bench/plans.mjs --set coding-agent --half learn`).
   */
  readonly likely: readonly Tool[];
  readonly depth: number;
  readonly serves?: Served;
}

const MAX_PRODUCERS = 3;
const MAX_DESCRIPTION = 200;

export async function decideSteps(chosen: readonly ToolOfAsk[], parts: Deciding): Promise<Written> {
  const unserved = chosen.flatMap(({ ask, tool }) => (tool ? [] : [ask]));
  const served = chosen.flatMap(({ ask, tool, ranked }) =>
    tool ? [{ ask, tool, likely: othersOf(tool, ranked) }] : [],
  );
  if (served.length === 0) return { kind: 'unplannable', reason: renderPhrase('noTool', parts.request) };
  // An ask that the model completed from the history may name a day in full.
  const message = [...new Set([parts.request.message, ...chosen.map(({ ask }) => ask)])].join('\n');
  const said = await readSaid({ ...parts.request, message });
  const earlier = spansOf((parts.request.history ?? []).map(({ content }) => oneLine(content)));
  const drafts: Draft[] = [];
  let confidence = Math.min(...chosen.map(({ probability }) => probability));
  for (const { tool, ...asked } of served) await addStep(tool, { ...asked, depth: 0 });
  return toWritten(drafts, { unserved, confidence }, parts);

  /** Adds the step after its producers. @returns its id, or the id of an equal step */
  async function addStep(tool: Tool, about: About): Promise<string> {
    const references = new Map<string, unknown>();
    const context = knownFor(tool, about.ask);
    const isNumberSaid = (name: string) =>
      parts.read('fill-arguments', promptValues(tool, about), OPENING, (open) =>
        isNumberIdentifier(name, { open, numbers: said.numbers }),
      );
    const needed = { ask: about.ask, context, isNumberSaid };
    const waiting = about.depth < MAX_PRODUCERS ? await awaitedArguments(tool, needed, parts) : [];
    for (const { argument, provisions } of waiting) {
      const known = drafts.filter((draft) =>
        provisions.some(({ producer }) => isReusable(draft, producer, tool, about)),
      );
      // Among several results the model chooses, as among all choices that fit.
      if (known.length > 1) continue;
      const [found] = known;
      const provision = found
        ? provisions.find(({ producer }) => producer === found.tool)
        : chooseProvision(provisions, about.likely, parts);
      if (!provision) continue;
      const next = { ...about, depth: about.depth + 1, serves: { tool, argument } };
      const id = found?.id ?? (await addStep(provision.producer, next));
      // The model names the field of a result without a schema.
      const value = provision.producer.outputSchema ? reference(id, provision.path) : `\${${id}.`;
      references.set(argument, isList(tool, argument) && !isListAt(provision) ? [value] : value);
    }
    const decide = () => {
      const values = promptValues(tool, about);
      const unasked = { ...values, facts: '', context: '', message: '' };
      return decideArguments(tool, {
        read: (use) => parts.read('fill-arguments', values, OPENING, use),
        readUnasked: (use) => parts.read('fill-arguments', unasked, OPENING, use),
        references,
        taken: takenBy(references, tool),
        context: { ...context, results: results() },
      });
    };
    let decided = await decide();
    const found = await findMissing(tool, decided.missing, about);
    for (const [argument, id] of found) references.set(argument, `\${${id}.`);
    if (found.size > 0) decided = await decide();
    const wanted = await withWantedItems(tool, decided.arguments, { ...parts, message: about.ask });
    decided = { ...decided, arguments: wanted };
    confidence = Math.min(confidence, decided.probability);
    // A lookup after an effect may find another result than the same lookup before it.
    const sinceEffect = drafts.slice(
      drafts.findLastIndex((draft) => draft.tool.risk === 'high' && draft.tool !== tool) + 1,
    );
    const equal = sinceEffect.find((draft) =>
      isSame(draft, { tool, arguments: decided.arguments, serves: about.serves }, parts),
    );
    if (equal) return equal.id;
    const id = `s${drafts.length + 1}`;
    drafts.push({ id, tool, ...decided, purpose: about.ask, serves: about.serves });
    return id;
  }

  /** Adds steps for arguments that neither the request nor the graph provides: the model names a tool for each, or none. */
  async function findMissing(tool: Tool, missing: readonly string[], about: About): Promise<Map<string, string>> {
    const { ask, depth } = about;
    const found = new Map<string, string>();
    if (depth >= MAX_PRODUCERS) return found;
    const readers = parts.tools.filter(
      (other) => other !== tool && RISKS.indexOf(other.risk) <= RISKS.indexOf(tool.risk),
    );
    for (const argument of missing) {
      const others = readers.filter((other) => canProvide(other, tool, argument));
      if (others.length === 0) continue;
      const producer = await findTool(`${describe(tool, argument)}: ${ask}`, { ...parts, tools: others });
      if (!producer) continue;
      const known = drafts.find((draft) => isReusable(draft, producer, tool, about));
      const serves = { tool, argument };
      found.set(argument, known?.id ?? (await addStep(producer, { ...about, depth: depth + 1, serves })));
    }
    return found;
  }

  /** Whether the draft already has the result: it serves an ask, or another step of the same ask. */
  function isReusable(draft: Draft, producer: Tool, consumer: Tool, { ask }: About): boolean {
    if (draft.tool !== producer) return false;
    return draft.serves === undefined || (draft.purpose === ask && draft.serves.tool !== consumer);
  }

  function promptValues(tool: Tool, { ask, serves }: About) {
    const { input } = fittedSchemas(tool);
    const type = renderType(input, input);
    const text = oneLine(shownDescription(tool)).slice(0, MAX_DESCRIPTION);
    const end = serves ? `For: ${serves.argument} of ${serves.tool.name}\n` : '';
    return {
      tool: `${tool.name}${type === 'object' ? '()' : `(${type})`}${text ? `: ${text}` : ''}`,
      facts: `${end}${timesLine(said)}${drafts.map(earlierLine).join('')}`,
      context: parts.context,
      message: ask,
    };
  }

  /** Words used to find a thing count as used for its consumer, except numbers and times of an argument of the same name. */
  function takenBy(references: ReadonlyMap<string, unknown>, tool: Tool): TakenWords {
    const used = JSON.stringify([...references.values()]);
    const own = Object.keys(Object(fittedSchemas(tool).input.properties));
    const found = drafts.flatMap(({ id, taken }) => (used.includes(`\${${id}.`) ? [...taken] : []));
    return new Map(found.filter(([, argument]) => argument === undefined || !own.includes(argument)));
  }

  function results(): SourceContext['results'] {
    return drafts.flatMap(({ id, tool }): SourceContext['results'] => {
      const { output } = fittedSchemas(tool);
      if (output === undefined) return [{ reference: `\${${id}.`, schema: undefined }];
      return resultFields(output).map(({ path, schema }) => ({ reference: reference(id, path), schema }));
    });
  }

  function knownFor(tool: Tool, message: string): Omit<SourceContext, 'results'> {
    const { request, view } = parts;
    const handles = producerGraph(view)
      .argumentsOf(tool)
      .filter(({ isIdentifier }) => isIdentifier);
    const entities = Object.values(request.entities ?? {}).filter((value) => typeof value === 'string');
    return {
      said,
      texts: [...new Set([message, ...entities, parts.message])],
      earlier,
      handles: new Map(
        handles.map((one) => [one.name, isGiven(one, { ...request, message: saidIn(request, message) })]),
      ),
      timeZone: request.timeZone,
    };
  }
}

/** Whether two steps make the same call, defaults filled in, or the draft is a lookup with a subset of the same arguments. */
function isSame(
  draft: Draft,
  { tool, arguments: values, serves }: Pick<Draft, 'tool' | 'arguments' | 'serves'>,
  { defaults }: Pick<Deciding, 'defaults'>,
): boolean {
  if (draft.tool !== tool) return false;
  const whole = (given: Draft['arguments']) => (defaults ? fillDefaults(tool.inputSchema, given) : given);
  const [one, other] = [whole(draft.arguments), whole(values)];
  // Undefined: the defaults are too large to be filled in.
  if (one !== undefined && sameJson(one, other)) return true;
  const names = Object.keys(draft.arguments);
  const areLookups = draft.serves !== undefined && serves !== undefined && names.length > 0;
  return areLookups && names.every((name) => sameJson(draft.arguments[name], values[name]));
}

function othersOf(tool: Tool, ranked: ToolOfAsk['ranked']): Tool[] {
  const others = ranked.filter((one) => one.tool !== tool && one.odds > 1);
  return others.sort((one, other) => other.odds - one.odds).map((one) => one.tool);
}

function isList(tool: Tool, argument: string): boolean {
  const root = fittedSchemas(tool).input;
  return plainSchema(Object(root.properties)[argument], root).type === 'array';
}

function isListAt({ producer, path }: Provision): boolean {
  const found = producer.outputSchema && subschemaAt(producer.outputSchema, path);
  return isObject(found) && found.type === 'array';
}

function reference(id: string, path: Provision['path']): string {
  const rendered = renderPath(path);
  return `\${${id}${rendered === '' || rendered.startsWith('[') ? '' : '.'}${rendered}}`;
}

function timesLine({ times }: Said): string {
  if (times.length === 0) return '';
  const shown = ({ date, time }: Said['times'][number]['start']) => [date, time?.slice(0, 5)].filter(Boolean).join(' ');
  const facts = times.map(({ text, start, end }) => `"${text}" is ${shown(start)}${end ? ` to ${shown(end)}` : ''}`);
  return `Times: ${[...new Set(facts)].join('; ')}\n`;
}

const MAX_RESULT = 200;

function earlierLine({ id, tool, arguments: values }: Draft): string {
  const { output } = fittedSchemas(tool);
  const given = Object.entries(values).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const type = output ? ` returns ${renderType(output, output, { comments: false }).slice(0, MAX_RESULT)}` : '';
  return `Earlier: ${id} = ${tool.name}(${given.join(', ')})${type}\n`;
}

function toWritten(
  drafts: readonly Draft[],
  { unserved, confidence }: { unserved: string[]; confidence: number },
  { request, message, defaults, trace }: Deciding,
): Written {
  const missing = drafts.flatMap(({ tool, missing }) => missing.map((name) => ({ tool, name })));
  if (missing.length > 0) {
    const what = missing.map(({ tool, name }) => describe(tool, name));
    const question = renderPhrase('missing', request, { what: [...new Set(what)].join('; ') });
    return { kind: 'clarification', question, missing: [...new Set(missing.map(({ name }) => name))], unserved };
  }
  const steps = drafts.map(({ tool, missing: _, serves: __, taken: ___, ...step }) => ({ ...step, tool: tool.name }));
  const checked = checkPlan(steps, new Map(drafts.map(({ tool }) => [tool.name, tool])), { defaults });
  if (!checked.ok) {
    trace.add('planning', 'the decided plan does not pass its check', { issues: checked.issues });
    return { kind: 'invalid', issues: checked.issues, steps };
  }
  const sure = Math.round(confidence * 10_000) / 10_000;
  return {
    kind: 'plan',
    goal: message,
    steps: checked.steps,
    levels: levelsOf(checked.steps),
    unserved,
    confidence: sure,
  };
}

/** The title or description of an argument with its name, else the name alone. */
function describe(tool: Tool, name: string): string {
  const schema = Object(Object(fittedSchemas(tool).input.properties)[name]);
  const text = [schema.title, schema.description].find((one) => typeof one === 'string' && one !== '');
  return text === undefined ? name : `${oneLine(String(text))} (${name})`;
}
