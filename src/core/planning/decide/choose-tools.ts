/**
 * A tool for each ask, or none: read along the trie of names, behind the asks before it and by itself. The mean of the two
 * readings' logarithms decides.
 */
import { missingProducers } from '../../catalog/producers.js';
import type { View } from '../../catalog/scope.js';
import { oneLine } from '../../catalog/summary.js';
import type { Tool } from '../../catalog/tool.js';
import { createNameTrie, type RankedName, rankNames } from '../../model/choices.js';
import type { TokenReader } from '../../model/model.js';
import type { Request } from '../../request.js';
import { keywordIndexOf } from '../../search/keyword-index.js';
import type { RankedTool } from '../../search/rank.js';
import { fuse } from '../../selection/rank.js';
import type { Read } from './read.js';

export interface ToolOfAsk {
  readonly ask: string;
  /** Undefined where no tool serves the ask. */
  readonly tool: Tool | undefined;
  /** Of the choice, between 0 and 1. */
  readonly probability: number;
  /** Best first, with the name that stands for none. */
  readonly ranked: readonly RankedName[];
}

export interface ToolChoice {
  readonly tools: readonly Tool[];
  readonly view: View;
  readonly request: Request;
  readonly message: string;
  readonly context: string;
  readonly read: Read;
  readonly probabilities: ReadonlyMap<string, number>;
}

const OPENING = '{"steps": [{"do": ';
const RANK = { names: 6, maxSteps: 24, minProbability: 0.005 };
/** A name that was not read is as likely as this. */
const UNREAD = 0.002;
const MAX_DESCRIPTION = 160;
/**
 * From this probability of "none" on no tool serves an ask: by whether the likeliest tool has a word of it. Without one,
 * "none" is seldom the likeliest even where it is true. Of BFCL's irrelevance 12 of 24 are told so that were learnt from
 * (9 by 0.5 alone); of 78 asks that a tool fits 3 are lost (2): `test/bench/plans.mjs --set irrelevance --half learn`.
 */
const UNFIT = { matched: 0.5, unmatched: 0.05 };

export async function chooseTools(asks: readonly string[], choice: ToolChoice): Promise<ToolOfAsk[]> {
  const { byName, none, names, readAbout, readAlone } = readingsOf(choice);
  const together = await readAbout(choice.message, async (reader) => {
    const trie = createNameTrie(names, reader);
    const found: (readonly RankedName[])[] = [];
    let before = '';
    for (const ask of asks) {
      const start = `${before}${JSON.stringify(ask)}, "tool": "`;
      const ranked = await rankNames(trie, reader, { ...RANK, start: reader.tokenize(start) });
      found.push(ranked);
      before = `${start}${ranked[0]?.name ?? none}"}, {"do": `;
    }
    return found;
  });
  const chosen: ToolOfAsk[] = [];
  for (const [place, ask] of asks.entries()) {
    const behind = together[place] ?? [];
    const read = asks.length === 1 ? behind : averaged(behind, await readAlone(ask));
    const selected = withSelection(read, choice.probabilities, { none, share: asks.length });
    const matches = keywordIndexOf(choice.view).search(ask, MAX_MATCHES);
    const ranked = withKeywords(selected, { matches, view: choice.view, none });
    const unfit = read.find(({ name }) => name === none)?.probability ?? 0;
    const likeliest = read.find(({ name }) => name !== none)?.name;
    const isMatched = matches.some(({ tool }) => tool.name === likeliest);
    const isFit = unfit < UNFIT[isMatched ? 'matched' : 'unmatched'];
    chosen.push({
      ask,
      ranked,
      ...(isFit ? decided(ranked, byName, choice) : { tool: undefined, probability: unfit }),
    });
  }
  return chosen;
}

/** The tool that gives what is asked for, by one reading; undefined where "none" is likelier than any. */
export async function findTool(ask: string, choice: ToolChoice): Promise<Tool | undefined> {
  const { byName, readAlone } = readingsOf(choice);
  const [best] = await readAlone(ask);
  return best && byName.get(best.name);
}

function readingsOf(choice: ToolChoice) {
  const byName = new Map([...choice.tools].sort(byNames).map((tool) => [tool.name, tool]));
  const none = noneAmong(byName);
  const names = [...byName.keys(), none];
  const lines = [...byName.values()].map(renderCandidate).join('\n');
  const readAbout = <T>(message: string, use: (reader: TokenReader) => Promise<T>) =>
    choice.read('tool', { none, tools: lines, context: choice.context, message }, OPENING, use);
  const readAlone = (ask: string) =>
    readAbout(ask, (reader) => {
      const start = reader.tokenize(`${JSON.stringify(ask)}, "tool": "`);
      return rankNames(createNameTrie(names, reader), reader, { ...RANK, start });
    });
  return { byName, none, names, readAbout, readAlone };
}

/** A producer is on the way to its consumer: what it has counts for the likeliest consumer that waits for it. */
const CONSUMER_SHARE = 0.05;

function decided(ranked: readonly RankedName[], byName: ReadonlyMap<string, Tool>, { view, request }: ToolChoice) {
  const [best] = ranked;
  const first = best && byName.get(best.name);
  if (!best || !first) return { tool: undefined, probability: best?.probability ?? 0 };
  const isProducerOf = (consumer: Tool) =>
    missingProducers(consumer, new Set(), { view, request }).some(({ tool }) => tool === first);
  const consumer = ranked
    .slice(1)
    .flatMap(({ name, probability }) => {
      const tool = byName.get(name);
      return tool && probability >= CONSUMER_SHARE * best.probability ? [{ tool, probability }] : [];
    })
    .find(({ tool }) => isProducerOf(tool));
  if (!consumer) return { tool: first, probability: best.probability };
  return { tool: consumer.tool, probability: best.probability + consumer.probability };
}

/** `- name(arguments): what it does`. */
function renderCandidate({ name, inputSchema, description }: Tool): string {
  const names = Object.keys(Object(inputSchema.properties));
  const text = oneLine(description);
  const shown = text.length > MAX_DESCRIPTION ? `${text.slice(0, MAX_DESCRIPTION)}…` : text;
  return `- ${name}(${names.join(', ')})${shown ? `: ${shown}` : ''}`;
}

function byNames(one: Tool, other: Tool): number {
  return one.name < other.name ? -1 : 1;
}

/** A name that no tool has. */
function noneAmong(byName: ReadonlyMap<string, Tool>): string {
  let none = 'none';
  while (byName.has(none)) none = `${none}_of_these`;
  return none;
}

const MAX_MATCHES = 20;

/** Keywords decide where the model wavers between tools; whether any tool does it is the model's word alone. */
function withKeywords(
  ranked: readonly RankedName[],
  { matches, view, none }: { matches: readonly RankedTool[]; view: View; none: string },
) {
  const probabilities = new Map(
    ranked.flatMap(({ name, probability }) => {
      const tool = view.byName.get(name);
      return tool ? [[tool, probability] as const] : [];
    }),
  );
  const fused = fuse(probabilities, matches);
  const scored = fused.filter(({ tool }) => probabilities.has(tool));
  const total = scored.reduce((sum, { score }) => sum + score, 0) || 1;
  const nothing = ranked.filter(({ name }) => name === none);
  const share = 1 - (nothing[0]?.probability ?? 0);
  return [
    ...scored.map(({ tool, score }) => ({ name: tool.name, probability: (share * score) / total })),
    ...nothing,
  ].sort((one, other) => other.probability - one.probability);
}

/** Weight of selection's reading over all tools beside the one over the few. */
const SELECTION_WEIGHT = 0.33;

/** Selection has read the whole request over whole descriptions: an opinion of its own, at no cost. */
function withSelection(
  ranked: readonly RankedName[],
  probabilities: ReadonlyMap<string, number>,
  { none, share }: { none: string; share: number },
): RankedName[] {
  if (probabilities.size === 0) return [...ranked];
  const masses = ranked.map(({ name, probability }) => {
    const other = name === none ? probability : Math.min(1, share * (probabilities.get(name) ?? 0));
    return Math.exp(
      (1 - SELECTION_WEIGHT) * Math.log(probability + UNREAD) + SELECTION_WEIGHT * Math.log(other + 0.02),
    );
  });
  const total = masses.reduce((sum, mass) => sum + mass, 0);
  return ranked
    .map(({ name }, place) => ({ name, probability: (masses[place] ?? 0) / total }))
    .sort((a, b) => b.probability - a.probability);
}

function averaged(one: readonly RankedName[], other: readonly RankedName[]): RankedName[] {
  const weight = (list: readonly RankedName[], name: string) =>
    Math.log((list.find((entry) => entry.name === name)?.probability ?? 0) + UNREAD);
  const names = [...new Set([...one, ...other].map(({ name }) => name))];
  const masses = names.map((name) => Math.exp((weight(one, name) + weight(other, name)) / 2));
  const total = masses.reduce((sum, mass) => sum + mass, 0);
  return names
    .map((name, place) => ({ name, probability: (masses[place] ?? 0) / total }))
    .sort((a, b) => b.probability - a.probability);
}
