/** The flags of `winnow run`. */
import type { AgentFlags } from './agent-options.js';

export interface RunFlags extends AgentFlags {
  catalog?: string[];
  config?: string;
  user?: string;
  role?: string[];
  session?: string;
  resume?: string;
  repeat?: string[];
  secrets?: string;
  dryRun?: boolean;
  retries?: number;
  json?: boolean;
}
