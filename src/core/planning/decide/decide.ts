/**
 * A plan by deciding: what is asked for, a tool for each ask, the producers on the way, and each argument from one source.
 * Each decision is a choice among what exists, and its probability is known.
 */
import type { View } from '../../catalog/scope.js';
import { oneLine } from '../../catalog/summary.js';
import type { Tool } from '../../catalog/tool.js';
import {
  addUsage,
  type CallAbout,
  type Model,
  type RequestFacts,
  type TokenReader,
  type Usage,
} from '../../model/model.js';
import type { NamedPrompt } from '../../prompts/prompts.js';
import type { Request } from '../../request.js';
import { openedReader } from '../../selection/rank-names.js';
import type { Trace } from '../../trace.js';
import { fittedSchemas } from '../fitted.js';
import { renderType } from '../render-type.js';
import { dayIn } from '../today.js';
import { OPENING as ARGUMENTS, decideArguments } from './arguments.js';
import { OPENING as ASKS, readAsks } from './asks.js';
import { rankTools, renderCandidate, OPENING as TOOLS } from './choose-tools.js';
import { awaitedOf, fieldFor, fieldsOf, handlesOf, producesFor, serves } from './interim.js';
import { readSaid, type Said } from './said.js';
import type { SourceName } from './sources.js';
import { spansOf } from './spans.js';

export interface DecideParts {
  model: Model;
  prompts: {
    asks: NamedPrompt<'split-asks'>;
    tool: NamedPrompt<'choose-tool'>;
    arguments: NamedPrompt<'fill-arguments'>;
  };
  view: View;
  request: Request;
  context: string;
  usage: Usage;
  trace: Trace;
  facts: RequestFacts;
  signal: AbortSignal | undefined;
}

export interface DraftStep {
  id: string;
  tool: string;
  arguments: Record<string, unknown>;
  from: Record<string, SourceName>;
  purpose: string;
  missing: string[];
}

export interface Decided {
  steps: DraftStep[];
  unserved: string[];
  probability: number;
}

const MAX_DEPTH = 3;
/** A producer is on the way to its consumer: a consumer at this share of its probability takes its place. */
const CONSUMER_SHARE = Number(process.env.V_PROD ?? 0.25);

export async function decidePlan(tools: readonly Tool[], parts: DecideParts): Promise<Decided> {
  const { request, context, view, prompts, trace } = parts;
  const message = oneLine(request.message);
  const read = readerOf(parts);
  const asks = await read(prompts.asks, { context, message }, ASKS, (reader) => readAsks(message, reader));
  trace.add('planning', `${asks.length} asks`, { asks });
  const ordered = [...tools].sort((one, other) => (one.name < other.name ? -1 : 1));
  const byName = new Map(ordered.map((tool) => [tool.name, tool]));
  const lines = ordered.map(renderCandidate).join('\n');
  const found = await rankTools(asks, {
    message,
    names: [...byName.keys()],
    none: 'none',
    read: (said, use) => read(prompts.tool, { none: 'none', tools: lines, context, message: said }, TOOLS, use),
  });
  trace.add('planning', 'tools of the asks', { ranked: found });
  const said = await readSaid(request);
  const spans = spansOf([
    message,
    ...entityTexts(request),
    ...(request.history ?? []).map(({ content }) => oneLine(content)),
  ]);
  const steps: DraftStep[] = [];
  const unserved: string[] = [];
  let probability = 1;
  const chosen: string[] = [];
  for (const { ask, ranked } of found) {
    let best = ranked[0];
    for (const other of ranked.slice(1)) {
      const consumer = byName.get(other.name);
      if (
        best &&
        consumer &&
        best.name !== 'none' &&
        other.probability > CONSUMER_SHARE * best.probability &&
        serves(best.name, consumer, view, request)
      ) {
        best = other;
        break;
      }
    }
    const tool = best && byName.get(best.name);
    if (!best || !tool) {
      unserved.push(ask);
      continue;
    }
    probability = Math.min(probability, best.probability);
    chosen.push(await addStep(tool, { ask, isPart: asks.length > 1 }, 0));
  }
  return { steps, unserved, probability };

  async function addStep(tool: Tool, about: { ask: string; isPart: boolean }, depth: number): Promise<string> {
    const given = new Map<string, string>();
    if (depth < MAX_DEPTH) {
      for (const { argument, producer, path } of awaitedOf(tool, view, request, new Set(byName.keys()))) {
        const earlier = steps.find(
          (step) => chosen.includes(step.id) && producesFor(step.tool, tool, view).includes(argument),
        );
        const id = earlier?.id ?? (await addStep(producer, about, depth + 1));
        const from = earlier ? fieldFor(view.byName.get(earlier.tool) ?? producer, argument) : path;
        given.set(argument, `\${${id}${from.startsWith('[') ? '' : '.'}${from}}`);
      }
    }
    const facts = `${timesLine(said)}${earlierLine(steps, view)}`;
    const handles = new Set(handlesOf(tool, view));
    const type = renderType(fittedSchemas(tool).input, fittedSchemas(tool).input);
    const text = `${tool.name}${type === 'object' ? '()' : `(${type})`}${tool.description ? `: ${oneLine(tool.description).slice(0, 200)}` : ''}`;
    const decided = await read(
      prompts.arguments,
      {
        tool: text,
        facts,
        context,
        message: about.isPart ? (process.env.V_PART === 'ask' ? about.ask : `${message}\nPart: ${about.ask}`) : message,
      },
      ARGUMENTS,
      (reader) =>
        decideArguments(tool, {
          reader,
          given,
          context: {
            said,
            spans:
              about.isPart && process.env.V_PART === 'ask'
                ? spansOf([about.ask, ...entityTexts(request)]).concat(spans)
                : spans,
            results: resultsOf(steps, view),
            isHandle: (name) => handles.has(name),
            day: request.today ?? dayIn(request.timeZone),
            timeZone: request.timeZone,
          },
        }),
    );
    probability = Math.min(probability, decided.probability);
    const same = steps.find(
      (step) => step.tool === tool.name && JSON.stringify(step.arguments) === JSON.stringify(decided.arguments),
    );
    if (same) return same.id;
    const id = `s${steps.length + 1}`;
    steps.push({
      id,
      tool: tool.name,
      arguments: decided.arguments,
      from: decided.from,
      purpose: about.ask,
      missing: [...decided.missing],
    });
    return id;
  }
}

/** Fields of earlier results, as references. */
function resultsOf(steps: readonly DraftStep[], view: View) {
  return steps.flatMap(({ id, tool }) =>
    fieldsOf(view.byName.get(tool)).map(({ path, schema }) => ({
      reference: `\${${id}${path.startsWith('[') ? '' : '.'}${path}}`,
      schema,
    })),
  );
}

function earlierLine(steps: readonly DraftStep[], view: View): string {
  return steps
    .map(({ id, tool }) => {
      const output = view.byName.get(tool) && fittedSchemas(view.byName.get(tool) as Tool).output;
      return `Earlier step ${id}: ${tool}${
        output
          ? ` returns ${renderType(output, output)
              .replace(/ \/\*.*?\*\//gu, '')
              .slice(0, 200)}`
          : ''
      }\n`;
    })
    .join('');
}

function timesLine({ times }: Said): string {
  if (times.length === 0) return '';
  const shown = ({ date, time }: { date?: string; time?: string }) =>
    [date, time?.slice(0, 5)].filter(Boolean).join(' ');
  const lines = times.map(({ text, start, end }) => `"${text}" is ${shown(start)}${end ? ` to ${shown(end)}` : ''}`);
  return `Times: ${[...new Set(lines)].join('; ')}\n`;
}

function entityTexts({ entities }: Request): string[] {
  return Object.values(entities ?? {}).flatMap((value) => (typeof value === 'string' ? [value] : []));
}

type Template = {
  name: string;
  hash: string;
  render(values: Record<string, string>): ReturnType<NamedPrompt<'split-asks'>['render']>;
};

function readerOf({ model, usage, facts, signal }: DecideParts) {
  return async <T>(
    prompt: unknown,
    values: Record<string, string>,
    opening: string,
    use: (reader: TokenReader) => Promise<T>,
  ): Promise<T> => {
    const template = prompt as Template;
    const about: CallAbout = {
      module: 'planning/decide',
      promptName: template.name,
      promptHash: template.hash,
      variables: values,
      ...facts,
    };
    if (!model.openReader) throw new Error('no reader');
    const reader = await openedReader(
      model.openReader({ prompt: template.render(values), opening, stage: 'planning', signal, about }),
      usage,
    );
    try {
      return await use(reader);
    } finally {
      addUsage(usage, reader.usage());
      await reader.close();
    }
  };
}
