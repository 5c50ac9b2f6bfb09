/** What MCP servers offer besides tools, as adapters ask for it. */
import type { CallFailure } from '../failure.js';

/** By method: the capability that a server needs and, for lists, the field with the items. */
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
  /** Parameters of the specification; none for lists, which are read completely. */
  readonly params?: Readonly<Record<string, unknown>>;
}

export interface McpOffered {
  readonly ok: true;
  /** Result of the specification. Without the capability, lists are empty. */
  readonly result: Readonly<Record<string, unknown>>;
}

export interface McpOffers {
  /** Their names in the configuration. */
  servers(): readonly string[];
  /** Requests from a server what it offers besides tools. No policy applies. */
  ask(server: string, request: McpOfferRequest, asking?: McpAsking): Promise<McpOffered | CallFailure>;
}

export interface McpAsking {
  readonly signal?: AbortSignal | undefined;
  /** Who asks; log messages of the server reach no other user. Default: the embedding program. */
  readonly user?: string | undefined;
}
