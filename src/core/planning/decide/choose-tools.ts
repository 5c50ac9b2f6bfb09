/**
 * Chooses a tool for each ask, or none. The model gives two opinions: which name it would write, and, of one tool after the other,
 * whether it does what the ask wants. Each probability is compared with that under an empty request, since a tool or a "yes" that
 * is likely for any request carries no information.
 *
 * Where selection ordered the tools for the ask, fits come first, and only the names of the tools near the best are ranked: to read
 * the lines of all took half of the tokens of a plan. Where selection was skipped, the names of all tools come first.
 */
import { codesIn } from '../../catalog/codes.js';
import { producerGraph } from '../../catalog/producers.js';
import type { Tool } from '../../catalog/tool.js';
import { oncePer } from '../../kept.js';
import { type Fit, readFit } from './check-fit.js';
import { producersOf, textsOf } from './needs.js';
import type { Deciding } from './read.js';
import { averaged, createNameReader, type LiftOf, liftsOf, type Ranked } from './read-names.js';

export interface ToolOfAsk {
  readonly ask: string;
  /** The asks that it stands for, if they are several calls of the tool. */
  readonly asks?: readonly string[];
  readonly tool: Tool | undefined;
  readonly probability: number;
  /** Best odds first. */
  readonly ranked: readonly ScoredTool[];
}

interface ScoredTool {
  readonly tool: Tool;
  /** Ratio of the probability of its name to that under an empty request. */
  readonly lift: number;
  /** Probability that the tool does what the ask wants, between 0 and 1. */
  readonly fits: number;
  /** Odds of the tool against no tool; above 1 it fits. */
  readonly odds: number;
}

/**
 * Tools to score: the ranked names with the highest lift, down to a share of it; where none fits, further ones in the order
 * of selection.
 */
const SCORED = { likely: 3, share: 0.15, further: 3 };
/**
 * Tools whose fit is read before their names, and the share of the best fit that is near it. The name of the first one is read, too:
 * of 73 development requests three more are then right. It must beat "none" by itself, else 8 in place of 9 of 13 unfit ones are rejected.
 */
const FIRST = { tools: 4, near: 0.7 };
/**
 * A tool fits, whatever its name, if the odds of its "yes" are this share of those under an empty request, where most tools seem to
 * fit. Of development requests, the tools of 22 that a tool serves have at least 0.46; the best ones of 12 that none serves have at
 * most 0.33 but for two (0.55 and 0.61). Not behind earlier messages, with which a tool fits even "thank you": of 25 of those that ask
 * for no tool (`test/bench/asides`) 22 are rejected in place of 10, and of 23 that are right one is lost.
 */
const FITS = 0.4;

/**
 * Factors on the odds of a tool that takes a code of the ask, by its form, and of one that does not. Of 80 requests of eight sets with
 * a code whose form a schema shows, 76 want a tool that takes it; of the other tools, one in six does. The square roots of both
 * ratios count, as do those of names. Of 26 such requests of halves that nobody looked at, 15 are planned right in place of 9
 * (`test/bench/plans.mjs --half measure`, the sets `talks`, `shapes`, `roles`). `takers`: most tools beyond those of selection.
 */
const CODES = { taken: 2.5, other: 0.25, takers: 16 };

export async function chooseTools(asks: readonly string[], choice: Deciding): Promise<ToolOfAsk[]> {
  const opinions = choice.isOrdered ? await readFitsFirst(asks, choice) : await readNamesFirst(asks, choice);
  const looks: Look[] = [];
  for (const opinion of opinions) {
    const scoring = { ...choice, ...opinion };
    looks.push({ scoring, own: toolOf(await scoreLikely(scoring), scoring) });
  }
  return choice.isOrdered && looks.length > 1 ? lookFurther(looks, choice.tools) : looks.map(({ own }) => own);
}

/** The tool of an ask, and what is known of it. */
interface Look {
  readonly scoring: Scoring;
  readonly own: ToolOfAsk;
}

/** An ask whose tool has this share of the odds of all looks at no other one, and an ask at no more than `most`. */
const FURTHER = { surely: 0.75, most: 4 };

/**
 * An ask that is in doubt looks at the tools of the others, too, and at what selection puts first for the whole request: what
 * selection finds for one of "the time in Rome, Oslo and Bonn" it may lack for another. One with better odds takes the place. Of 292
 * development requests two more are planned right, and none fewer.
 */
async function lookFurther(looks: readonly Look[], selected: readonly Tool[]): Promise<ToolOfAsk[]> {
  const likely = new Set([...looks.flatMap(({ own }) => own.tool ?? []), ...selected.slice(0, looks.length)]);
  const found: ToolOfAsk[] = [];
  for (const { scoring, own } of looks) {
    const isKnown = (tool: Tool) => own.ranked.some((one) => one.tool === tool);
    const others = own.probability < FURTHER.surely ? [...likely].filter((tool) => !isKnown(tool)) : [];
    const further: ScoredTool[] = [];
    for (const tool of others.slice(0, FURTHER.most)) further.push(await score(tool, scoring));
    const isBetter = further.some(({ odds }) => odds > (own.ranked[0]?.odds ?? 0));
    found.push(isBetter ? toolOf([...own.ranked, ...further], scoring) : own);
  }
  return found;
}

/** What is known of the tools for one ask before they are scored. */
interface Opinion {
  readonly ask: string;
  /** In the order in which they are worth a look. */
  readonly tools: readonly Tool[];
  readonly likely: readonly Tool[];
  readonly liftOf: LiftOf;
  /** What the lift of the tool's name is compared with: that of "none", or less if its fit is near the best. */
  readonly against: (tool: Tool) => number;
  readonly known: ReadonlyMap<Tool, Fit>;
  readonly evidenceOf: Evidence;
}

/** How many times likelier the codes of an ask make a tool: `INV-120` is for those whose schemas show such a code. */
type Evidence = (tool: Tool) => number;

/**
 * The evidence of the codes of an ask, and the tools that take one of these themselves, whether selection has them or not. A tool
 * that requires a text may take them there: "tell the team that INV-7 is late".
 */
function readCodes(ask: string, choice: Deciding): { evidenceOf: Evidence; takers: readonly Tool[] } {
  const { view } = choice;
  const { codes, formsTakenBy } = producerGraph(view);
  const known = [...codesIn(ask).keys()].filter((form) => codes.has(form));
  if (known.length === 0) return { evidenceOf: () => 1, takers: [] };
  const takes = (tool: Tool) => known.some((form) => formsTakenBy(tool).has(form));
  const evidenceOf = oncePer((tool: Tool) => {
    if (takes(tool) || [...producersOf(tool, choice)].some(takes)) return CODES.taken;
    return textsOf(tool, view).some((one) => one.codes.size === 0) ? 1 : CODES.other;
  });
  return { evidenceOf, takers: view.tools.filter(takes).slice(0, CODES.takers) };
}

/** Ranks the names of all tools, once after the earlier asks and once for the ask alone. */
async function readNamesFirst(asks: readonly string[], choice: Deciding): Promise<Opinion[]> {
  const { tools } = choice;
  const { none, readAlone, readTogether, readUnasked } = createNameReader(choice);
  const together = await readTogether(asks);
  const unasked = await readUnasked();
  const opinions: Opinion[] = [];
  for (const [place, ask] of asks.entries()) {
    const behind = together[place] ?? [];
    const context = choice.contextAfter(asks.slice(0, place));
    const reading = asks.length === 1 ? behind : averaged(behind, await readAlone(ask, context));
    const { evidenceOf } = readCodes(ask, choice);
    const liftOf = liftsOf(reading, unasked);
    const lift = ({ name }: Tool) => liftOf([name]);
    const byCodes = likeliestOf(tools, reading, (tool) => lift(tool) * evidenceOf(tool));
    const likely = [...new Set([...likeliestOf(tools, reading, lift), ...byCodes])];
    opinions.push({ ask, tools, likely, liftOf, against: () => liftOf([none]), known: new Map(), evidenceOf });
  }
  return opinions;
}

/** The tools whose names have the highest lift, down to a share of it. */
function likeliestOf(tools: readonly Tool[], reading: Ranked, lift: (tool: Tool) => number): Tool[] {
  const read = tools.filter(({ name }) => reading.some((one) => one.name === name));
  const highest = Math.max(...read.map(lift));
  const byLift = read.sort((one, other) => lift(other) - lift(one)).slice(0, SCORED.likely);
  return byLift.filter((tool) => lift(tool) >= SCORED.share * highest);
}

/**
 * Reads the fits of the first tools in the order of selection, and the names of those near the best. Names are read with the
 * earlier asks in view ("push it"); fits are not, since there every tool looks less fit.
 */
async function readFitsFirst(asks: readonly string[], choice: Deciding): Promise<Opinion[]> {
  const opinions: Opinion[] = [];
  for (const [place, ask] of asks.entries()) {
    const before = asks.slice(0, place);
    const { evidenceOf, takers } = readCodes(ask, choice);
    const ordered = asks.length === 1 ? choice.tools : await toolsInOrder(ask, before, choice);
    const byCodes = [...new Set([...ordered, ...takers])].sort((one, other) => evidenceOf(other) - evidenceOf(one));
    // The first one is among them, whatever the codes say.
    const tools = [...new Set([...byCodes.slice(0, FIRST.tools - 1), ...ordered.slice(0, 1), ...byCodes])];
    const known = new Map<Tool, Fit>();
    for (const tool of tools.slice(0, FIRST.tools)) known.set(tool, await readFit(tool, ask, choice));
    const highest = Math.max(...[...known.values()].map(({ lift }) => lift));
    const isNear = (tool: Tool) => (known.get(tool)?.lift ?? 0) >= FIRST.near * highest;
    const likely = tools.slice(0, FIRST.tools).filter((tool, order) => order === 0 || isNear(tool));
    const names = await compareNames(ask, isNear, { ...choice, context: choice.contextAfter(before), tools: likely });
    opinions.push({ ask, tools, likely, known, evidenceOf, ...names });
  }
  return opinions;
}

/** Selection orders the tools for the ask; behind its tools come those for the whole request. */
async function toolsInOrder(
  ask: string,
  before: readonly string[],
  { tools, orderFor }: Deciding,
): Promise<readonly Tool[]> {
  return [...new Set([...(await orderFor(ask, before)), ...tools])];
}

async function compareNames(
  ask: string,
  isNear: (tool: Tool) => boolean,
  choice: Deciding,
): Promise<Pick<Opinion, 'liftOf' | 'against'>> {
  const { none: noneName, readAlone, readUnasked } = createNameReader(choice);
  const reading = await readAlone(ask);
  const liftOf = liftsOf(reading, await readUnasked());
  // Among the names of a few tools that fit, "none" is likelier than among many that do not.
  const highest = Math.max(...choice.tools.map((tool) => liftWithProducers(tool, liftOf, choice)));
  const [none, near] = [liftOf([noneName]), FITS ** 2 * highest];
  const isAlone = !choice.request.history?.length;
  return { liftOf, against: (tool) => (isAlone && isNear(tool) ? Math.min(none, near) : none) };
}

type Scoring = Deciding & Opinion;

/**
 * Chooses the tool with the best odds. No tool that acts on its result joins it unasked: where one fitted, too, one of five
 * requests that it was not set on wanted it, and the others only asked what there is.
 */
function toolOf(scored: readonly ScoredTool[], scoring: Scoring): ToolOfAsk {
  const { ask } = scoring;
  const ranked = scored.toSorted(byOdds);
  const [best] = ranked;
  const producers = best ? producersOf(best.tool, scoring) : new Set<Tool>();
  const total = ranked.reduce((sum, { tool, odds }) => (producers.has(tool) ? sum : sum + odds), 1);
  if (!best || best.odds <= 1) return { ask, tool: undefined, probability: 1 / total, ranked };
  return { ask, tool: best.tool, probability: best.odds / total, ranked };
}

function byOdds(one: ScoredTool, other: ScoredTool): number {
  return other.odds - one.odds;
}

/** Scores the likeliest tools and, where none of them fits, further ones in the order of selection. */
async function scoreLikely(scoring: Scoring): Promise<ScoredTool[]> {
  const { tools, likely } = scoring;
  const scored: ScoredTool[] = [];
  for (const tool of likely) scored.push(await score(tool, scoring));
  if (scored.some(({ odds }) => odds > 1)) return scored;
  const further = tools.filter((tool) => !likely.includes(tool)).slice(0, SCORED.further);
  for (const tool of further) scored.push(await score(tool, scoring));
  return scored;
}

/**
 * The name and the question "does it fit?" are two opinions on one decision, so the odds of the name count by their square root.
 * The lift of a producer counts for its consumer. Of development cases it rejects 27 of 33 of BFCL's irrelevance and 9 of 13
 * unfit requests of the fixtures, and loses 1 of 33 fit ones; without the readings of an empty request 22 of 30, 8 of 13 and 1
 * of 33. For requests of one ask 25 of 31 tools are right in place of 22 (`test/bench/plans.mjs --set irrelevance --half learn`).
 */
async function score(tool: Tool, scoring: Scoring): Promise<ScoredTool> {
  const { liftOf, against, known, evidenceOf } = scoring;
  const { fits, lift: fit } = known.get(tool) ?? (await readFit(tool, scoring.ask, scoring));
  const lift = liftWithProducers(tool, liftOf, scoring);
  return { tool, lift, fits, odds: fit * Math.sqrt(lift / against(tool)) * evidenceOf(tool) };
}

/** One effect is not on the way to another: a request for a backup does not ask to restore it. */
function liftWithProducers(tool: Tool, liftOf: LiftOf, choice: Deciding): number {
  const isOnTheWay = ({ risk }: Tool) => tool.risk === 'low' || risk === 'low';
  const producers = [...producersOf(tool, choice)].filter(isOnTheWay);
  return liftOf([tool.name, ...producers.map(({ name }) => name)]);
}
