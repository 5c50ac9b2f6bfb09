/** The rank way: the answer is opened for the model and the probabilities of the next name are read. */
import type { CallAbout, Model, Prompt, Usage } from '../model/model.js';
import { addUsage } from '../model/model.js';
import { WinnowError } from '../errors.js';
import type { Answer, NamedTool } from './answer.js';
import { createNameTrie } from './name-trie.js';
import { rankNames } from './rank-names.js';
import type { Sheet } from './sheet.js';

export interface RankQuestion {
  model: Model;
  prompt: Prompt;
  about: CallAbout;
  /** Of the names, so many count as chosen. */
  core: number;
  usage: Usage;
  signal: AbortSignal | undefined;
}

export const OPENING = '{"selected_tools": ["';
const RANKED_NAMES = 12;
const MAX_STEPS = 24;
const MIN_PROBABILITY = 0.001;
/** A chosen name is at least this likely, relative to the likeliest. */
const MIN_SHARE = 0.02;

export async function askForRank(sheet: Sheet, question: RankQuestion): Promise<Answer> {
  const { model, prompt, about, core, usage, signal } = question;
  if (!model.openReader) throw new WinnowError('model_refused', 'This model gives no next-token probabilities: use --set answer=list.');
  const reader = await model.openReader({ prompt, opening: OPENING, signal, about });
  try {
    const trie = createNameTrie([...sheet.tools.map((tool) => sheet.labels.labelOf(tool)), sheet.labels.none], reader);
    const ranked = await rankNames(trie, reader, { names: RANKED_NAMES, maxSteps: MAX_STEPS, minProbability: MIN_PROBABILITY, calibration: 0 });
    const none = ranked.find((entry) => entry.name === sheet.labels.none)?.probability ?? 0;
    const named = ranked.flatMap(({ name, probability }): NamedTool[] => {
      const tool = name === sheet.labels.none ? undefined : sheet.labels.toolOf(name);
      return tool ? [{ tool, probability }] : [];
    });
    const highest = named[0]?.probability ?? 0;
    const likely = named.filter((entry) => (entry.probability ?? 0) >= highest * MIN_SHARE).length;
    const says = none > highest;
    return { named, chosen: Math.min(core, likely), none: { says, probability: none }, reason: '', dropped: [] };
  } finally {
    addUsage(usage, reader.usage());
    await reader.close();
  }
}
