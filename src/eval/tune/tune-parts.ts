/** All that the search for one prompt works with. */
import type { Catalog } from '../../core/catalog/catalog.js';
import type { Model } from '../../core/model/model.js';
import type { Options } from '../../core/options.js';
import type { Budget, Spent } from './budget.js';
import type { Journal } from './journal.js';
import type { Measure } from './measure.js';
import type { TunedPrompt } from './prompt-draft.js';
import type { PromptGate } from './prompt-gate.js';
import type { Split } from './split-cases.js';
import type { ExampleOf } from './worked-example.js';

export interface TunePromptParts {
  prompt: TunedPrompt;
  /** The file's text as it is now. */
  text: string;
  split: Split;
  gate: PromptGate;
  measure: Measure;
  journal: Journal;
  budget: Budget;
  /** What later prompts may spend. */
  reserve: Spent;
  /** Proposes wordings; counted. */
  model: Model;
  catalogs: ReadonlyMap<string, Catalog>;
  options: Options;
  exampleOf: ExampleOf;
  /** Growth of the stable part as it is sent, as a fraction. */
  maxTokensGrowth: number;
  rounds: number;
  /** Candidates of each kind in a round. */
  tries: number;
  /** Cases at once. */
  jobs: number;
  seed: number;
  signal: AbortSignal;
  onProgress: (text: string) => void;
}
