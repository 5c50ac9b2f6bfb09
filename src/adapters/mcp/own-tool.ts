/** One of Winnow's own tools as data: what it is called and takes, and how it is answered in a session. */
import { ToolSchema } from '@modelcontextprotocol/core';
import type { Tool as McpTool, ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type Caller, type CallResult, type Progress, refusedSchema } from '../../agents/contracts.js';
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
}

/** An object of the tool's output schema, or what a tool of the session came to. */
export type OwnAnswer = { readonly content: object } | { readonly result: CallResult };

export interface OwnTool {
  readonly listed: McpTool;
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
  handle(given: z.output<Input>, call: ToolCall): Promise<OwnAnswer>;
}

export function ownTool<Input extends z.ZodType>({ input, output, hints, handle, ...words }: Spec<Input>): OwnTool {
  return {
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
    inNext(content) {
      if (prefix === '') return content;
      const isNext = (key: string, value: unknown) => key === 'next' && typeof value === 'string';
      return JSON.parse(JSON.stringify(content), (key, value) => (isNext(key, value) ? inText(value) : value));
    },
  };
}
