/**
 * From the model's answer to the tools that are handed on: producers, rules, always-on and required tools, companions,
 * the cap, and the fill of what room is left.
 */
import { missingProducers, type ProducerContext } from '../catalog/producers.js';
import type { Rule } from '../catalog/rule.js';
import type { View } from '../catalog/scope.js';
import type { Tool } from '../catalog/tool.js';
import type { Options } from '../config/options.js';
import type { Request } from '../request.js';
import type { Dropped, SelectedTool } from '../result.js';
import type { RankedTool } from '../search/rank.js';
import type { Answer, NamedTool } from './answer.js';
import { applyCap } from './apply-cap.js';
import { type Entry, PRIORITY } from './entry.js';
import { fill } from './fill.js';
import { withCompanions } from './with-companions.js';
import { withRules } from './with-rules.js';

export interface ComposeInput {
  view: View;
  request: Request;
  answer: Answer;
  rules: readonly Rule[];
  /** Best first. Asked for only where they count. */
  keywords: () => readonly Pick<RankedTool, 'tool' | 'score'>[];
  options: Options;
  /** Tokens of a tool's schema in the planning prompt. */
  schemaTokens: (tool: Tool) => number;
  /** Of all that the caller sees. */
  allTokens: number;
}

export interface Composition {
  readonly tools: readonly SelectedTool[];
  readonly dropped: readonly Dropped[];
}

export function compose(input: ComposeInput): Composition {
  const { view, options } = input;
  const ruled = supplied(withRules(chosenWithProducers(input), input), input);
  const chosen = options.companions ? withCompanions(ruled, view) : ruled;
  const { kept, dropped } = applyCap(chosen, input);
  const filled = options.fill ? fillRoom(kept, input) : kept;
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
    schemaTokens: { budget: fillBudget(input), of: schemaTokens },
    next,
    keyword: () => input.keywords().map(({ tool }, place) => keywordEntry(tool, place + 1)),
    withProducers: (entry, present) => withProducers(entry, present, context),
    isEnough: (entries) => options.minMass > 0 && massOf(entries, answer) >= options.minMass,
  });
}

/** Second opinions must not cost what is saved; of few and small tools some more do not. */
const SMALL_TOKENS = 800;

function fillBudget({ options, allTokens }: ComposeInput): number {
  return Math.min(options.schemaTokens, Math.max(SMALL_TOKENS, options.fillShare * allTokens));
}

function keywordEntry(tool: Tool, rank: number): Entry {
  return { tool, priority: PRIORITY.fill, selected: { name: tool.name, via: 'keyword', rank, fill: true } };
}

/** How much of the model's probability the tools hold; all names together hold more than 1 where several readings brought them. */
function massOf(entries: readonly Entry[], { named }: Answer): number {
  const names = new Set(entries.map((entry) => entry.tool.name));
  const held = sumOf(named.filter(({ tool }) => names.has(tool.name)));
  return held / Math.max(1, sumOf(named));
}

function sumOf(named: readonly NamedTool[]): number {
  return named.reduce((sum, { probability = 0 }) => sum + probability, 0);
}

/** The model's choice in its order, each tool behind the producers that it needs. */
function chosenWithProducers(input: ComposeInput): Entry[] {
  const { answer, options } = input;
  const context = options.producers ? contextOf(input) : undefined;
  const sure = surelyChosen(input);
  const entries: Entry[] = [];
  for (const [place, named] of answer.named.slice(0, answer.chosen).entries()) {
    const present = new Set(entries.map((entry) => entry.tool.name));
    if (present.has(named.tool.name)) continue;
    const isUnsure = !sure.has(named.tool);
    const entry = modelEntry(named, { rank: place + 1, priority: PRIORITY.chosen, isUnsure });
    entries.push(...withProducers(entry, present, context));
  }
  return entries;
}

/** What rules and the caller want gets the producers that it needs, too. */
function supplied(entries: readonly Entry[], input: ComposeInput): Entry[] {
  if (!input.options.producers) return [...entries];
  const context = contextOf(input);
  const present = new Set(entries.map((entry) => entry.tool.name));
  return entries.flatMap((entry) => {
    if (entry.selected.via !== 'rule' && entry.selected.via !== 'required') return [entry];
    const group = withProducers(entry, present, context);
    for (const { tool } of group) present.add(tool.name);
    return group;
  });
}

function contextOf({ view, request, answer }: ComposeInput): ProducerContext {
  const probabilities = new Map(answer.named.map((named) => [named.tool.name, named.probability ?? 0]));
  return { view, request, probabilityOf: (name) => probabilities.get(name) ?? 0 };
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

/** Planning sees a name as a second opinion when it stands far below the best, or when the first is enough. */
const SURE_STANDING = 0.5;
/**
 * And when the request speaks of it less than half as much as of its best match, but of another chosen one more. Of 119 such
 * names in 212 requests of nine sets 13 were needed; without them 0.60 of the chosen are needed (0.49 with them).
 */
const CLEARLY_SPOKEN_OF = 0.5;

function surelyChosen({ answer, options, keywords }: ComposeInput): Set<Tool> {
  const { named, chosen, isFirstEnough = false } = answer;
  const sure = named
    .slice(0, chosen)
    .filter(({ standing = 1 }, place) => place === 0 || !(isFirstEnough || standing < SURE_STANDING))
    .map(({ tool }) => tool);
  // A list has no second best; and who lets keywords count nothing wants the model's own choice.
  const isRanked = named[0]?.standing !== undefined;
  if (!isRanked || options.keywordWeight === 0 || sure.length < 2) return new Set(sure);
  const matches = keywords();
  const least = CLEARLY_SPOKEN_OF * (matches[0]?.score ?? 0);
  const spokenOf = new Set(matches.filter(({ score }) => score >= least).map(({ tool }) => tool));
  const spoken = sure.filter((tool) => spokenOf.has(tool));
  return new Set(spoken.length > 0 ? spoken : sure);
}

interface Place {
  rank: number;
  priority: number;
  isUnsure?: boolean;
}

function modelEntry({ tool, probability, standing }: NamedTool, { rank, priority, isUnsure = false }: Place): Entry {
  const isKeyword = probability === undefined && standing !== undefined;
  return {
    tool,
    priority,
    selected: {
      name: tool.name,
      via: isKeyword ? 'keyword' : 'model',
      rank,
      ...(probability === undefined ? {} : { probability: round(probability) }),
      ...(priority === PRIORITY.fill || isUnsure ? { fill: true as const } : {}),
    },
  };
}

function round(probability: number): number {
  return Math.round(probability * 10_000) / 10_000;
}
