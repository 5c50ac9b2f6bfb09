/**
 * From the model's answer to the tools that are handed on: rules, producers, companions, always-on and required
 * tools, the cap, and the fill of what room is left. What the cap takes away is recorded.
 */
import type { Rule } from '../catalog/rule.js';
import type { View } from '../catalog/scope.js';
import type { Tool } from '../catalog/tool.js';
import type { Options } from '../config/options.js';
import type { Request } from '../request.js';
import type { Dropped, SelectedTool } from '../result.js';
import type { Answer, NamedTool } from './answer.js';
import { type Entry, fill } from './fill.js';
import { missingProducers, type ProducerContext } from './producers/add-producers.js';
import { createProducerContext } from './producers/producer-context.js';
import { matchingRules } from './rules.js';

export interface ComposeInput {
  view: View;
  request: Request;
  answer: Answer;
  rules: readonly Rule[];
  /** Best first. Asked for only when there is room to fill. */
  keywordMatches: () => readonly Tool[];
  options: Options;
  /** Tokens of a tool's schema in the planning prompt. */
  schemaTokens: (tool: Tool) => number;
}

export interface Composition {
  readonly tools: readonly SelectedTool[];
  readonly dropped: readonly Dropped[];
}

const PRIORITY = { required: 0, always: 0, rule: 1, chosen: 2, producer: 2, companion: 3, fill: 4 } as const;

export function compose(input: ComposeInput): Composition {
  const chosen = withCompanions(withRules(chosenWithProducers(input), input), input);
  const { kept, dropped } = applyCap(chosen, input);
  const filled = input.options.fill ? fillRoom(kept, input) : kept;
  return { tools: filled.map((entry) => entry.selected), dropped };
}

/** Free room goes to the next of the ranking and the keyword matches in turn, each with the producers that it needs. */
function fillRoom(kept: readonly Entry[], input: ComposeInput): Entry[] {
  const { answer, options, request, schemaTokens } = input;
  const next = answer.named
    .slice(answer.chosen)
    .map((named, place) => modelEntry(named, { rank: answer.chosen + place + 1, priority: PRIORITY.fill }));
  const context = options.producers ? contextOf(input) : undefined;
  return fill(kept, {
    maxTools: request.maxTools ?? options.maxTools,
    schemaTokens: { budget: options.schemaTokens, of: schemaTokens },
    next,
    keyword: () => input.keywordMatches().map((tool, place) => keywordEntry(tool, place + 1)),
    withProducers: (entry, present) => withProducers(entry, present, context),
    isEnough: (entries) => options.minMass > 0 && massOf(entries, answer) >= options.minMass,
  });
}

function keywordEntry(tool: Tool, rank: number): Entry {
  return { tool, priority: PRIORITY.fill, selected: { name: tool.name, via: 'keyword', rank, fill: true } };
}

/** How much of the model's probability the tools hold. */
function massOf(entries: readonly Entry[], { named }: Answer): number {
  const names = new Set(entries.map((entry) => entry.tool.name));
  return named.filter(({ tool }) => names.has(tool.name)).reduce((sum, { probability = 0 }) => sum + probability, 0);
}

/** The model's choice in its order, each tool behind the producers that it needs. */
function chosenWithProducers(input: ComposeInput): Entry[] {
  const { answer, options } = input;
  const context = options.producers ? contextOf(input) : undefined;
  const entries: Entry[] = [];
  for (const [place, named] of answer.named.slice(0, answer.chosen).entries()) {
    const present = new Set(entries.map((entry) => entry.tool.name));
    if (present.has(named.tool.name)) continue;
    const entry = modelEntry(named, { rank: place + 1, priority: PRIORITY.chosen, isUnsure: isUnsure(named, answer) });
    entries.push(...withProducers(entry, present, context));
  }
  return entries;
}

function contextOf({ view, request, answer }: ComposeInput): ProducerContext {
  const probabilities = new Map(answer.named.map((named) => [named.tool.name, named.probability ?? 0]));
  return createProducerContext(view, request, (name) => probabilities.get(name) ?? 0);
}

/** The producers that are missing, then the tool itself. */
function withProducers(entry: Entry, present: ReadonlySet<string>, context: ProducerContext | undefined): Entry[] {
  const missing = context ? missingProducers(entry.tool, present, context) : [];
  const isFill = entry.priority === PRIORITY.fill;
  const producers = missing.map(
    ({ tool, serves }): Entry => ({
      tool,
      priority: isFill ? PRIORITY.fill : PRIORITY.producer,
      selected: { name: tool.name, via: 'producer', serves, ...(isFill ? { fill: true } : {}) },
    }),
  );
  return [...producers, entry];
}

/** Planning sees a name as a second opinion when it is much less likely than the likeliest. */
const SURE_SHARE = 0.3;

function isUnsure({ probability }: NamedTool, { named }: Answer): boolean {
  return probability !== undefined && probability < SURE_SHARE * Math.max(...named.map((one) => one.probability ?? 0));
}

interface Place {
  rank: number;
  priority: number;
  isUnsure?: boolean;
}

function modelEntry({ tool, probability }: NamedTool, { rank, priority, isUnsure = false }: Place): Entry {
  return {
    tool,
    priority,
    selected: {
      name: tool.name,
      via: 'model',
      rank,
      ...(probability === undefined ? {} : { probability: round(probability) }),
      ...(priority === PRIORITY.fill || isUnsure ? { fill: true as const } : {}),
    },
  };
}

/** `relatedTools` of all that is there, to a fixpoint, each behind the tool that brought it. */
function withCompanions(entries: readonly Entry[], { view, options }: ComposeInput): Entry[] {
  if (!options.companions) return [...entries];
  const result = [...entries];
  const present = new Set(result.map((entry) => entry.tool.name));
  for (let place = 0; place < result.length; place++) {
    const owner = result[place];
    const news = (owner?.tool.relatedTools ?? [])
      .filter((name) => !present.has(name))
      .flatMap((name) => view.byName.get(name) ?? []);
    for (const tool of news) present.add(tool.name);
    const added = news.map(
      (tool): Entry => ({
        tool,
        priority: PRIORITY.companion,
        selected: { name: tool.name, via: 'companion', serves: owner?.tool.name ?? '' },
      }),
    );
    result.splice(place + 1, 0, ...added);
  }
  return result;
}

/** Rules at their places, then what the caller requires and what is always on. */
function withRules(entries: readonly Entry[], { view, request, rules, options }: ComposeInput): Entry[] {
  const matched = options.rules ? matchingRules(rules, request) : [];
  const ruled = (names: readonly string[] | undefined, rule: Rule): Entry[] =>
    (names ?? []).flatMap((name) => {
      const tool = view.byName.get(name);
      return tool
        ? [{ tool, priority: PRIORITY.rule, selected: { name, via: 'rule' as const, serves: rule.name } }]
        : [];
    });
  const first = matched.flatMap((rule) => ruled(rule.first, rule));
  const last = matched.flatMap((rule) => ruled(rule.last, rule));
  const include = matched.flatMap((rule) => ruled(rule.include, rule));
  const named = (names: readonly string[], via: 'required' | 'always'): Entry[] =>
    names.flatMap((name) => {
      const tool = view.byName.get(name);
      return tool ? [{ tool, priority: PRIORITY[via], selected: { name, via } }] : [];
    });
  const required = named(request.require ?? [], 'required');
  const always = named(
    view.tools.filter((tool) => tool.alwaysLoad).map((tool) => tool.name),
    'always',
  );
  const lastNames = new Set(last.map((entry) => entry.tool.name));
  const middle = [...entries, ...include, ...required, ...always].filter((entry) => !lastNames.has(entry.tool.name));
  return strongest([...first, ...middle, ...last]);
}

/** One entry a tool: at the first place it has, with the highest priority it has. */
function strongest(entries: readonly Entry[]): Entry[] {
  const byName = new Map<string, Entry>();
  for (const entry of entries) {
    const known = byName.get(entry.tool.name);
    if (!known) byName.set(entry.tool.name, entry);
    else if (entry.priority < known.priority) byName.set(entry.tool.name, { ...known, priority: entry.priority });
  }
  return [...byName.values()];
}

/** The cap on tools and on schema tokens; the least needed goes first. */
function applyCap(
  entries: readonly Entry[],
  { request, options, schemaTokens }: ComposeInput,
): { kept: Entry[]; dropped: Dropped[] } {
  const maxTools = request.maxTools ?? options.maxTools;
  const byPriority = [...entries].sort((a, b) => a.priority - b.priority);
  const dropped: Dropped[] = [];
  const kept = new Set<Entry>();
  let tokens = 0;
  for (const entry of byPriority) {
    const cost = schemaTokens(entry.tool);
    if (kept.size >= maxTools) dropped.push({ name: entry.tool.name, reason: 'cap' });
    else if (kept.size > 0 && tokens + cost > options.schemaTokens)
      dropped.push({ name: entry.tool.name, reason: 'schemaTokens' });
    else {
      kept.add(entry);
      tokens += cost;
    }
  }
  return { kept: entries.filter((entry) => kept.has(entry)), dropped };
}

function round(probability: number): number {
  return Math.round(probability * 10_000) / 10_000;
}
