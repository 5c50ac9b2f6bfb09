/** One of Winnow's own tools as data: its name, its input, and how it answers in a session. */
import { ToolSchema } from '@modelcontextprotocol/core';
import type { InputRequiredResult, Tool as McpTool, ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type Caller, type CallInput, type CallResult, type Progress, refusedSchema } from '../../agents/contracts.js';
import { isObject, listOf, objectOf } from '../../core/catalog/schema/json.js';
import type { JsonSchema } from '../../core/catalog/tool.js';
import { oncePer } from '../../core/kept.js';
import { parseInput } from '../../core/parse.js';

/** Session and caller of a call, and how its client gets progress. */
export interface ToolCall {
  readonly session: string;
  /** Undefined: the program that has started the server, which owns the session. */
  readonly caller: Caller | undefined;
  readonly signal: AbortSignal;
  /** Takes a text or a tool's own progress. It does nothing unless the client asked for progress. */
  readonly onProgress: (update: string | Progress) => void;
  /** Calls a tool of the session. */
  callTool(input: CallInput): Promise<OwnAnswer>;
}

/** An object of the tool's output schema, the result of a session's tool, or a question to the client. */
export type OwnAnswer =
  | {
      readonly content: object;
      /** The client has a reason to name the session again. Default: false. */
      readonly comesBack?: boolean;
    }
  | {
      readonly result: CallResult & {
        /** In which the client may repeat the call. Default: the client knows it. */
        readonly session?: string;
      };
    }
  | { readonly question: InputRequiredResult };

export interface OwnTool {
  readonly listed: McpTool;
  /** Its answer may name a session for later requests. */
  readonly opensSession: boolean;
  /** @throws WinnowError `invalid_request`, or what the work throws */
  answer(given: unknown, call: ToolCall): Promise<OwnAnswer>;
}

interface Spec<Input extends z.ZodType> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  /** Absent: it returns the output of the tool that it calls. */
  readonly output?: z.ZodType;
  readonly hints: ToolAnnotations;
  /** Default: false. */
  readonly opensSession?: boolean;
  handle(given: z.output<Input>, call: ToolCall): Promise<OwnAnswer>;
}

export function ownTool<Input extends z.ZodType>(spec: Spec<Input>): OwnTool {
  const { input, output, hints, handle, opensSession = false, ...words } = spec;
  return {
    opensSession,
    listed: {
      ...words,
      annotations: hints,
      inputSchema: listedInput(input),
      ...(output ? { outputSchema: listedOutput(output) } : {}),
    },
    answer: async (given, call) => handle(parseInput(input, given), call),
  };
}

const { inputSchema: inputSchemaSchema } = ToolSchema.shape;
const refusalSchema = refusedSchema.extend({ issues: z.array(z.string()).optional() });

// Shared by all connections: each would hold some 50 kB of its own.
const listedInput = oncePer((schema: z.ZodType) => inputSchemaSchema.parse(toJsonSchema(schema, 'input')));
/** Clients validate structured content with it, also that of a refusal. */
const listedOutput = oncePer((schema: z.ZodType) => ({
  type: 'object' as const,
  anyOf: [schema, refusalSchema].map((one) => toJsonSchema(one, 'output')),
}));

/** Without `$schema`, which some clients can not load. */
function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io });
  return rest;
}

const SESSION = { type: 'string', maxLength: 128 } as const;
const NAMED_SESSION = {
  ...SESSION,
  description: 'The session of an earlier answer, in which tools are enabled. Without it this request stands alone.',
};
const GIVEN_SESSION = { ...SESSION, description: 'Name it in later calls: what is enabled belongs to it.' };

/** For stateless clients: the first answer names a session, and each later request repeats it. */
export function withHandle({ listed, ...tool }: OwnTool): OwnTool {
  const { inputSchema, outputSchema } = listed;
  const anyOf = listOf(outputSchema?.anyOf).map((one) => withProperty(objectOf(one), GIVEN_SESSION));
  return {
    ...tool,
    listed: {
      ...listed,
      inputSchema: { ...inputSchema, properties: { ...inputSchema.properties, session: NAMED_SESSION } },
      ...(outputSchema && tool.opensSession ? { outputSchema: { ...outputSchema, anyOf } } : {}),
    },
  };
}

function withProperty(schema: JsonSchema, session: object): JsonSchema {
  return { ...schema, properties: { ...objectOf(schema.properties), session } };
}

// Winnow's own tools under the operator's names, also where a text names one.

export interface OwnNames {
  /** New name -> tool. */
  readonly tools: ReadonlyMap<string, OwnTool>;
  inText(text: string): string;
  /** Renames tools in the fields `next` of an answer, at any depth, and nowhere else. */
  inNext<Content extends object>(content: Content): Content;
}

export function createOwnNames(tools: readonly OwnTool[], prefix: string): OwnNames {
  const names = tools.map(({ listed }) => listed.name);
  const pattern = new RegExp(`(?<![\\w-])(?:${names.join('|')})(?![\\w-])`, 'gu');
  const inText = (text: string) => text.replace(pattern, (name) => `${prefix}${name}`);
  const rename = ({ listed, ...tool }: OwnTool): OwnTool => {
    const { name, description = '' } = listed;
    return { ...tool, listed: { ...listed, name: `${prefix}${name}`, description: inText(description) } };
  };
  return {
    tools: new Map(tools.map(rename).map((tool) => [tool.listed.name, tool])),
    inText,
    inNext: <Content extends object>(content: Content) => (prefix === '' ? content : (renamed(content) as Content)),
  };

  function renamed(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(renamed);
    if (!isObject(value)) return value;
    const entries = Object.entries(value).map(([key, part]) => {
      if (DATA.has(key)) return [key, part];
      return [key, key === 'next' && typeof part === 'string' ? inText(part) : renamed(part)];
    });
    return Object.fromEntries(entries);
  }
}

/** Data of tools and their schemas, which stay unchanged. */
const DATA = new Set(['arguments', 'granted', 'output', 'content', 'meta', 'inputSchema', 'outputSchema']);
