/** What stage one's model said, whichever way it was asked. */
import type { Tool } from '../catalog/tool.js';

export interface NamedTool {
  readonly tool: Tool;
  /** Of being named, between 0 and 1; absent where the server gives none. */
  readonly probability?: number;
  /** Beside the best, between 0 and 1, where keywords counted as well; see `fuse`. */
  readonly standing?: number;
}

export interface Answer {
  /** Best first, without duplicates. */
  readonly named: readonly NamedTool[];
  /** How many of `named`, from the first, the model chose; the others are its next best. */
  readonly chosen: number;
  /** Rank: behind the first and its producers the model would end its list: the other chosen are second opinions. */
  readonly isFirstEnough?: boolean;
  /** The model found that no tool fits; with `rank`, its probability. */
  readonly none: { says: boolean; probability?: number };
  readonly reason: string;
  /** Rank: how sure it is that the first name is one of the chosen, by the model's probabilities or by keywords. */
  readonly confidence?: number;
}
