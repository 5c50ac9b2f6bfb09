/** What MCP servers offer besides tools, as adapters ask for it. */
import type { CallFailure } from '../failure.js';

/** By its method: what a server must be able to do, and, of a list, where its items stand. */
export const OFFERS = {
  'resources/list': { capability: 'resources', items: 'resources' },
  'resources/templates/list': { capability: 'resources', items: 'resourceTemplates' },
  'resources/read': { capability: 'resources' },
  'prompts/list': { capability: 'prompts', items: 'prompts' },
  'prompts/get': { capability: 'prompts' },
  'completion/complete': { capability: 'completions' },
} as const;

export interface McpOfferRequest {
  readonly method: keyof typeof OFFERS;
  /** As the specification has them; not of lists, which are read whole. */
  readonly params?: Readonly<Record<string, unknown>>;
}

export interface McpOffered {
  readonly ok: true;
  /** As the specification has it. A server that can't do it offers an empty list. */
  readonly result: Readonly<Record<string, unknown>>;
}

export interface McpOffers {
  /** Their names in the configuration. */
  servers(): readonly string[];
  /** Asks a server for what it offers besides tools. Nobody's policy is asked. */
  ask(server: string, request: McpOfferRequest, asking?: McpAsking): Promise<McpOffered | CallFailure>;
}

export interface McpAsking {
  readonly signal?: AbortSignal | undefined;
  /** Who asks: what the server logs meanwhile reaches no other user. Default: the embedding program itself. */
  readonly user?: string | undefined;
}
