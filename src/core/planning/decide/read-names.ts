/** Which tool the model would name for an ask, by next-token probabilities over the names of all tools in question. */
import { shownTexts } from '../../catalog/shown.js';
import type { Tool } from '../../catalog/tool.js';
import { createNameTrie, type RankedName, rankNames } from '../../model/choices.js';
import type { TokenReader } from '../../model/model.js';
import { oneLine } from '../../visible-text.js';
import { renderCandidate } from './check-fit.js';
import type { Deciding, Read } from './read.js';

const OPENING = '{"steps": [{"do": ';
const RANK = { names: 6, maxSteps: 10, minProbability: 0.05 };
/** Floor of a probability where two readings are averaged. */
const FLOOR = 0.002;
/** Added to each probability before the ratio to the empty request, since small ones are noise. */
const SMOOTHING = 0.1;

export type Ranked = readonly RankedName[];

/** Readings of the names of `choice.tools` and of "none", likeliest first. */
export function createNameReader(choice: Deciding) {
  const byName = new Map([...choice.tools].sort(byNames).map((tool) => [tool.name, tool]));
  const none = noneAmong(byName);
  const names = [...byName.keys(), none];
  const lines = [...byName.values()].map(renderLine).join('\n');
  const readAbout = <T>(
    { message, context, read }: { message: string; context: string; read: Read },
    use: (reader: TokenReader) => Promise<T>,
  ) => read('choose-tool', { none, tools: lines, context, message }, OPENING, async (open) => use(await open()));
  const readOne = (ask: string, context: string, read: Read) =>
    readAbout({ message: ask, context, read }, (reader) => {
      const start = reader.tokenize(`${JSON.stringify(ask)}, "tool": "`);
      return rankNames(createNameTrie(names, reader), reader, { ...RANK, start });
    });
  return {
    none,
    toolOf: (name: string) => byName.get(name),
    readAlone: (ask: string, context = choice.context): Promise<Ranked> => readOne(ask, context, choice.read),
    /** With an empty request. */
    readUnasked: (): Promise<Ranked> => readOne('', '', choice.readUnasked),
    /** One ask after the other, each after the likeliest tools of those before it. */
    readTogether: (asks: readonly string[]): Promise<Ranked[]> =>
      readAbout(choice, async (reader) => {
        const trie = createNameTrie(names, reader);
        const found: Ranked[] = [];
        let before = '';
        for (const ask of asks) {
          const start = `${before}${JSON.stringify(ask)}, "tool": "`;
          const ranked = await rankNames(trie, reader, { ...RANK, start: reader.tokenize(start) });
          found.push(ranked);
          before = `${start}${ranked[0]?.name ?? none}"}, {"do": `;
        }
        return found;
      }),
  };
}

/** The likeliest tool for an ask by one reading; undefined if "none" is likelier than any. */
export async function findTool(ask: string, choice: Deciding): Promise<Tool | undefined> {
  const { toolOf, readAlone } = createNameReader(choice);
  const [best] = await readAlone(ask);
  return best && toolOf(best.name);
}

/** How many times likelier the names are, all together, than under an empty request. */
export type LiftOf = (names: readonly string[]) => number;

export function liftsOf(asked: Ranked, unasked: Ranked): LiftOf {
  const share = (ranked: Ranked, names: readonly string[]) =>
    ranked.reduce((sum, { name, probability }) => (names.includes(name) ? sum + probability : sum), SMOOTHING);
  return (names) => share(asked, names) / share(unasked, names);
}

/** The geometric mean of two readings. */
export function averaged(one: Ranked, other: Ranked): Ranked {
  const weight = (list: Ranked, name: string) =>
    Math.log((list.find((entry) => entry.name === name)?.probability ?? 0) + FLOOR);
  const names = [...new Set([...one, ...other].map(({ name }) => name))];
  const masses = names.map((name) => Math.exp((weight(one, name) + weight(other, name)) / 2));
  const total = masses.reduce((sum, mass) => sum + mass, 0);
  return names
    .map((name, place) => ({ name, probability: (masses[place] ?? 0) / total }))
    .sort((a, b) => b.probability - a.probability);
}

/**
 * `- name(arguments): description (keywords)`. Without keywords 35 in place of 37 of 67 development requests are planned right,
 * and 6 of the 7 of `--set first` (`test/bench/plans.mjs --set hydrology --set coding-agent --half learn`).
 */
function renderLine(tool: Tool): string {
  const keywords = oneLine(shownTexts(tool).keywords.join(', '));
  return `- ${renderCandidate(tool)}${keywords ? ` (${keywords})` : ''}`;
}

function byNames(one: Tool, other: Tool): number {
  return one.name < other.name ? -1 : 1;
}

function noneAmong(byName: ReadonlyMap<string, Tool>): string {
  let none = 'none';
  while (byName.has(none)) none = `${none}_of_these`;
  return none;
}
