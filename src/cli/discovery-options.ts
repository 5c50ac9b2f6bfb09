/** Flags of how agents find tools: the second opinion of a model, and learning from use. They win over the file. */
import { type Command, InvalidArgumentError } from 'commander';
import { wholeNumber } from './shared-options.js';

export interface DiscoveryFlags {
  /** Undefined: as the file says. */
  rerank?: boolean;
  rerankTimeout?: number;
  rerankConfidence?: number;
  adaptation?: boolean;
  learnEvery?: number;
}

export function addDiscoveryOptions(command: Command): Command {
  return command
    .option('--rerank', 'let the model reorder what a search for tools found')
    .option('--no-rerank', 'do not, whatever the configuration file says')
    .option('--rerank-timeout <ms>', "past it the rules' order stands (default: 8000)", wholeNumber)
    .option('--rerank-confidence <share>', "below it the rules' order stands (default: 0.65)", share)
    .option('--adaptation', 'learn from use: ranking, words, proposals of tools that are always on')
    .option('--no-adaptation', 'do not, whatever the configuration file says')
    .option('--learn-every <minutes>', 'how often use is looked at anew (default: 60)', wholeNumber);
}

function share(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 1)) throw new InvalidArgumentError('must be from 0 to 1.');
  return value;
}
