/**
 * A model in this process that names given tools, whatever it reads: Winnow around a model that is always right. Where
 * none of them stands on the sheet it is asked again, and names the first tool there.
 */
import { estimateTokens } from '../../dist/core/model/count-tokens.js';

const LIMITS = { contextTokens: 32_768, enumValues: 1_000, enumCharacters: 15_000, tools: 128 };
const FIRST_LINE = /^- (\S+)/mu;

/** `answer.names` is what it says next; an empty list says that no tool fits. */
export function createListModel(answer) {
  return {
    id: 'scripted-list',
    limits: LIMITS,
    preferredAnswer: 'list',
    countTokens: estimateTokens,
    close: async () => {},
    async complete({ prompt }) {
      const isAgain = prompt.user.includes("can't be used");
      const [, first] = isAgain ? (FIRST_LINE.exec(prompt.system.slice(prompt.system.indexOf('Tools:'))) ?? []) : [];
      const names = first ? [first] : answer.names;
      const text = JSON.stringify({ selected_tools: names, reason: '' });
      return { text, finish: 'stop', usage: { calls: 1, read: 0, cached: 0, written: 0 } };
    },
  };
}
