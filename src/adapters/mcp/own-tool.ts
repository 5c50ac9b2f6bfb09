/** One of Winnow's own tools as data: what it is called and takes, and how it is answered in a session. */
import { ToolSchema } from '@modelcontextprotocol/core';
import type { InputRequiredResult, Tool as McpTool, ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type Caller, type CallInput, type CallResult, type Progress, refusedSchema } from '../../agents/contracts.js';
import { isObject, listOf, objectOf } from '../../core/catalog/schema/json.js';
import type { JsonSchema } from '../../core/catalog/tool.js';
import { oncePer } from '../../core/kept.js';
import { parseInput } from '../../core/parse.js';

/** In whose name a call is made, and how the client hears of it while it runs. */
export interface ToolCall {
  readonly session: string;
  /** Undefined: the program that has started the server, in whose name the session is. */
  readonly caller: Caller | undefined;
  readonly signal: AbortSignal;
  /** Told what happens, in words or as a tool says it; where the client did not ask for it, nobody listens. */
  readonly onProgress: (told: string | Progress) => void;
  /** Calls a tool of the session. */
  callTool(input: CallInput): Promise<OwnAnswer>;
}

/** An object of the tool's output schema, what a tool of the session came to, or what the client is asked first. */
export type OwnAnswer =
  | {
      readonly content: object;
      /** The client has a reason to name the session again. Default: false. */
      readonly comesBack?: boolean;
    }
  | {
      readonly result: CallResult & {
        /** In which the client may make the call again. Default: it knows. */
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
  /** Absent: it answers whatever the tool that it calls does. */
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

// Once for all connections: each would hold some 50 kB of its own.
const listedInput = oncePer((schema: z.ZodType) => inputSchemaSchema.parse(toJsonSchema(schema, 'input')));
/** A client checks structured content by it, that of a refusal too. */
const listedOutput = oncePer((schema: z.ZodType) => ({
  type: 'object' as const,
  anyOf: [schema, refusalSchema].map((one) => toJsonSchema(one, 'output')),
}));

/** Without its dialect, which some clients can not load. */
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

/** For clients that have no connection: they name the session with each request, and the first answer gives it. */
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

// Winnow's own tools under the names that the operator gave them, wherever a text names one.

export interface OwnNames {
  /** The tools under their new names, by these. */
  readonly tools: ReadonlyMap<string, OwnTool>;
  inText(text: string): string;
  /** What is said to do next, at any depth; nothing else of an answer is touched. */
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

/** What tools take and gave, and what is said of it, stays as it is. */
const DATA = new Set(['arguments', 'granted', 'output', 'content', 'meta', 'inputSchema', 'outputSchema']);
