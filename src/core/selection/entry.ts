/** A tool on its way through the selection: how it came, and how soon it goes when room is short. */
import type { Tool } from '../catalog/tool.js';
import type { SelectedTool } from '../result.js';

export interface Entry {
  readonly tool: Tool;
  readonly selected: SelectedTool;
  /** The smaller, the longer it stays when the cap comes. */
  readonly priority: number;
}

export const PRIORITY = { required: 0, always: 0, rule: 1, chosen: 2, producer: 2, companion: 3, fill: 4 } as const;
