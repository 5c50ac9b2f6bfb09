/**
 * An OpenAI-compatible endpoint in front of a model of this process, as a `fetch`: the same bytes as over a socket,
 * without the time-outs of one. A `response_format` constrains the answer as llama.cpp does it: the model does not see
 * the schema, unless the bridge is told to show it.
 */
import { z } from 'zod';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { toWinnowError, type WinnowError } from '../../../src/core/errors.js';
import { type Completion, type Model, noUsage } from '../../../src/core/model/model.js';
import { type BoundTool, MAX_CALL_TOKENS, renderBoundTools } from './tool-calls.js';

const bodySchema = z.object({
  messages: z.array(z.object({ role: z.string(), content: z.union([z.string(), z.null()]).optional() })),
  tools: z
    .array(
      z.object({
        function: z.object({ name: z.string(), description: z.string().default(''), parameters: z.unknown() }),
      }),
    )
    .default([]),
  response_format: z
    .object({ json_schema: z.object({ name: z.string(), schema: z.record(z.string(), z.unknown()) }) })
    .optional(),
});
type Body = z.output<typeof bodySchema>;

export interface BridgeOptions {
  model: Model;
  /**
   * What of a response schema is written into the system part, as servers do that show it to the model: the schema
   * with its names as it is, or each name with the description of its tool.
   */
  shows: 'nothing' | 'names' | 'descriptions';
  /** Bound of an answer under a schema, in tokens. */
  maxTokens: number;
}

export interface Bridge {
  readonly fetch: typeof fetch;
  /** Begins a request: forgets the one before. `answersTools`: a call with tools bound is put to the model. */
  begin(tools: readonly Tool[], options: { answersTools: boolean }): void;
  /** Tools bound to the last call without a `response_format`; none where there was no such call. */
  boundTools(): readonly string[];
  /** What the model wrote under these tools, where it was asked. */
  answer(): string;
  /** Whether a selection was ended for the model, since it only repeated itself. */
  ranInLoop(): boolean;
  /** What the bridge itself did not understand: says nothing of who asked. */
  fault(): Error | undefined;
}

interface State {
  tools: readonly Tool[];
  answersTools: boolean;
  bound: string[];
  answer: string;
  ranInLoop: boolean;
  fault?: Error;
}

export function createBridge(options: BridgeOptions): Bridge {
  const begin = (tools: readonly Tool[], answersTools: boolean): State => ({
    tools,
    answersTools,
    bound: [],
    answer: '',
    ranInLoop: false,
  });
  let state = begin([], false);
  return {
    async fetch(_, init) {
      const body = bodySchema.safeParse(JSON.parse(String(init?.body)));
      if (!body.success) {
        state.fault = body.error;
        return toResponse(toWinnowError(body.error));
      }
      try {
        return Response.json(render(await answer(body.data, state, options)));
      } catch (error) {
        return toResponse(toWinnowError(error));
      }
    },
    begin: (tools, { answersTools }) => {
      state = begin(tools, answersTools);
    },
    boundTools: () => state.bound,
    answer: () => state.answer,
    ranInLoop: () => state.ranInLoop,
    fault: () => state.fault,
  };
}

async function answer(body: Body, state: State, { model, shows, maxTokens }: BridgeOptions): Promise<Completion> {
  const { messages, response_format: format } = body;
  const system = messages.find(({ role }) => role === 'system')?.content ?? undefined;
  const user = renderTurns(messages.filter(({ role }) => role !== 'system'));
  if (format) {
    const { name, schema } = format.json_schema;
    const descriptions = new Map(state.tools.map((tool) => [tool.name, tool.description]));
    const seen = shows === 'descriptions' ? withDescriptions(schema, descriptions) : schema;
    const shown = shows === 'nothing' ? (system ?? '') : `${system ?? ''}\n\n${renderFormat(name, seen)}`;
    const prompt = { system: shown, user };
    const completion = await model.complete({ stage: 'selection', maxTokens, prompt, schema: { name, schema } });
    const ended = endLoop(completion);
    state.ranInLoop = ended !== undefined;
    return ended ?? completion;
  }
  const bound = body.tools.map((tool): BoundTool => tool.function);
  state.bound = bound.map(({ name }) => name);
  // The measured turn ends here: a call handed back would make the agent run the tool and ask again.
  const done = { text: 'Done.', finish: 'stop' } as const;
  if (!state.answersTools || bound.length === 0) return { ...done, usage: noUsage() };
  const prompt = renderBoundTools(bound, user, system);
  const completion = await model.complete({ stage: 'planning', maxTokens: MAX_CALL_TOKENS, prompt });
  state.answer = completion.text;
  return { ...completion, ...done };
}

/**
 * The embedded model ends an answer that only repeats itself. A server without that guard writes on, and nobody knows
 * whether it would come to an end: so the selector is given the list as far as it came. Undefined where the answer is no
 * such list, or was cut at its bound.
 */
function endLoop({ text, finish, usage }: Completion): Completion | undefined {
  if (finish !== 'loop') return undefined;
  const closed = `${text.slice(0, text.lastIndexOf('",') + 1)}]}`;
  try {
    JSON.parse(closed);
    return { text: closed, finish: 'stop', usage };
  } catch {
    return undefined;
  }
}

function toResponse({ code, message, meaning }: WinnowError): Response {
  return Response.json({ error: { message, code } }, { status: meaning.httpStatus });
}

/** As OpenAI publishes it for its open models ("harmony" format, section on structured output). */
function renderFormat(name: string, schema: unknown): string {
  return `# Response Formats\n\n## ${name}\n\n${JSON.stringify(schema)}`;
}

/** A list of names -> one of alternatives, each with what it means, as pydantic writes annotated literals. */
function withDescriptions(schema: unknown, descriptions: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(schema)) return schema.map((one) => withDescriptions(one, descriptions));
  if (typeof schema !== 'object' || schema === null) return schema;
  if ('enum' in schema && Array.isArray(schema.enum)) {
    return {
      anyOf: schema.enum.map((name) => ({ const: name, description: descriptions.get(name) ?? '', type: 'string' })),
    };
  }
  return Object.fromEntries(Object.entries(schema).map(([key, one]) => [key, withDescriptions(one, descriptions)]));
}

/** One message stands alone; of several each says whose it is, since the seam knows one user part. */
function renderTurns(messages: Body['messages']): string {
  const [only] = messages;
  if (messages.length === 1) return only?.content ?? '';
  return messages.map(({ role, content }) => `${role}: ${content ?? ''}`).join('\n');
}

function render({ text, finish, usage }: Completion): Record<string, unknown> {
  const prompt = usage.read + usage.cached;
  return {
    id: 'chatcmpl-bridge',
    object: 'chat.completion',
    created: 0,
    model: 'bridge',
    choices: [{ index: 0, message: { role: 'assistant', content: text, refusal: null }, finish_reason: finish }],
    usage: { prompt_tokens: prompt, completion_tokens: usage.written, total_tokens: prompt + usage.written },
  };
}
