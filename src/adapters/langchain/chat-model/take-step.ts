/** One step of an agent by a model of Winnow: the prompt, the answer under a schema, one repair. */
import { AIMessage, type BaseMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { z } from 'zod';
import { isObject } from '../../../core/catalog/schema/json.js';
import { fittedSchemas, withoutNulls } from '../../../core/catalog/schema/normalise.js';
import { secretNamesOf } from '../../../core/catalog/schema/secrets.js';
import { shownTool } from '../../../core/catalog/shown.js';
import type { JsonSchema, Tool } from '../../../core/catalog/tool.js';
import { WinnowError } from '../../../core/errors.js';
import { type Completion, type Model, noUsage, type Usage } from '../../../core/model/model.js';
import { completeStructured, type Parsed, readJson } from '../../../core/model/structured.js';
import { prefixDefinitions } from '../../../core/planning/plan-schema.js';
import { renderType } from '../../../core/planning/render-tool.js';
import type { NamedPrompt } from '../../../core/prompts/prompts.js';
import { literal, oneLine, visibleText } from '../../../core/visible-text.js';

export interface StepParts {
  readonly model: Model;
  readonly prompt: NamedPrompt<'agent-step'>;
  readonly repair: NamedPrompt<'repair'>;
  readonly maxTokens: number;
}

interface StepRequest {
  readonly conversation: Conversation;
  readonly tools: readonly Tool[];
  /** Whether the model may answer in place of a call. */
  readonly canAnswer: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface TakenStep {
  readonly parsed: Parsed<Step>;
  /** The model's last answer. */
  readonly text: string;
  readonly finish: Completion['finish'];
  readonly usage: Usage;
}

/** Mistakes of the model are returned as issues. @throws WinnowError errors of the model */
export async function takeStep(parts: StepParts, request: StepRequest): Promise<TakenStep> {
  const { model, prompt, repair, maxTokens } = parts;
  const { conversation, tools, canAnswer, signal } = request;
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const instructions = conversation.instructions && `${conversation.instructions}\n\n`;
  const values = { ...conversation, instructions, tools: tools.map(renderTool).join('\n') || 'none' };
  const about = { module: 'langchain/chat-model', promptName: prompt.name, promptHash: prompt.hash };
  const usage = noUsage();
  let last: Pick<Completion, 'text' | 'finish'> = { text: '', finish: 'stop' };
  const parsed = await completeStructured({
    model,
    repair,
    usage,
    parse(completion) {
      last = completion;
      return readStep(completion, { tools: byName, canAnswer });
    },
    request: {
      stage: 'planning',
      prompt: prompt.render(values),
      schema: { name: 'step', schema: stepSchema(tools, { canAnswer }) },
      maxTokens,
      signal,
      about: { ...about, variables: { ...values, tools: [...byName.keys()] }, secretNames: secretNamesOf(tools) },
    },
  });
  return { parsed, text: last.text, finish: last.finish, usage };
}

function renderTool(given: Tool): string {
  const tool = shownTool(given);
  const { input } = fittedSchemas(tool);
  const description = oneLine(tool.description);
  return `- ${tool.name} ${renderType(input, input)}${description ? `: ${description}` : ''}`;
}

/**
 * Messages as two parts of a prompt. The conversation only grows at its end, so a model server's cache has all of it but the
 * last step. The result of a tool is one line, so it can't imitate other lines.
 */
interface Conversation {
  /** The system messages. */
  readonly instructions: string;
  readonly conversation: string;
}

/** @throws WinnowError `invalid_request` for content other than text */
export function renderConversation(messages: readonly BaseMessage[]): Conversation {
  const names = new Map(messages.flatMap(callsOf).map(({ id, name }) => [id, name]));
  const instructions = messages.filter((message) => SystemMessage.isInstance(message)).map(textOf);
  const lines = messages.filter((message) => !SystemMessage.isInstance(message)).flatMap((one) => render(one, names));
  return { instructions: instructions.join('\n\n'), conversation: lines.join('\n') };
}

function render(message: BaseMessage, names: ReadonlyMap<string | undefined, string>): string[] {
  if (AIMessage.isInstance(message)) return renderSteps(message);
  const text = textOf(message);
  if (!ToolMessage.isInstance(message)) return [`${HumanMessage.isInstance(message) ? 'User' : message.type}: ${text}`];
  const name = message.name ?? names.get(message.tool_call_id) ?? 'the tool';
  const shown = visibleText(text);
  return [`Result of ${name}: ${shown.includes('\n') ? JSON.stringify(shown) : shown}`];
}

/** Steps in the format in which the model has to write them. */
function renderSteps(message: AIMessage): string[] {
  const calls = callsOf(message).map(({ name, args }) => literal({ tool: name, arguments: args }));
  const steps = calls.length > 0 ? calls : [literal({ answer: message.text })];
  return steps.map((step) => `You: ${step}`);
}

function callsOf(message: BaseMessage): NonNullable<AIMessage['tool_calls']> {
  return AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
}

function textOf(message: BaseMessage): string {
  const { content } = message;
  const other = typeof content === 'string' ? undefined : content.find(({ type }) => type !== 'text');
  if (other === undefined) return message.text;
  const advice = 'this model reads text only';
  throw new WinnowError('invalid_request', `messages: a ${message.type} message holds ${other.type}; ${advice}.`);
}

export type Step = { tool: string; arguments: Record<string, unknown> } | { answer: string };

const answeredStepSchema = z.union([
  z.object({
    tool: z.string(),
    arguments: z
      .record(z.string(), z.unknown())
      .nullish()
      .transform((given) => given ?? {}),
  }),
  z.object({ answer: z.string() }),
]);

interface ReadStepOptions {
  tools: ReadonlyMap<string, Tool>;
  canAnswer: boolean;
}

/** Reads a step, or gives the issues to repair. The tool's runner checks the arguments and answers the model. */
export function readStep(
  { text, finish }: Pick<Completion, 'text' | 'finish'>,
  { tools, canAnswer }: ReadStepOptions,
): Parsed<Step> {
  const json = readJson(text, (value) => answeredStepSchema.safeParse(value).success);
  if (!json.ok)
    return { ok: false, issues: finish !== 'stop' ? ['the answer was cut: write a shorter one'] : json.issues };
  const step = answeredStepSchema.safeParse(json.value);
  if (!step.success) return { ok: false, issues: ['neither {"tool":"name","arguments":{...}} nor {"answer":"..."}'] };
  if ('answer' in step.data)
    return canAnswer ? { ok: true, value: step.data } : { ok: false, issues: ['answer: a tool has to be called now'] };
  const tool = tools.get(step.data.tool);
  if (!tool)
    return { ok: false, issues: [`tool: there is no "${step.data.tool}"; there are ${[...tools.keys()].join(', ')}`] };
  return {
    ok: true,
    value: { tool: tool.name, arguments: withoutNulls(step.data.arguments, fittedSchemas(tool).input) },
  };
}

interface StepSchemaOptions {
  /** Whether the model may answer in place of a call. */
  canAnswer: boolean;
}

/** The schema of a step: a call of one of the bound tools with its own arguments, or an answer. */
export function stepSchema(tools: readonly Tool[], { canAnswer }: StepSchemaOptions): JsonSchema {
  const definitions: Record<string, JsonSchema> = {};
  const calls = tools.map((tool, place) => {
    const prefix = `t${place + 1}`;
    const { $defs, ...input } = fittedSchemas(shownTool(tool)).input;
    for (const [name, schema] of Object.entries(isObject($defs) ? $defs : {}))
      if (isObject(schema)) definitions[`${prefix}_${name}`] = prefixDefinitions(schema, prefix);
    return member({ tool: { const: tool.name }, arguments: prefixDefinitions(input, prefix) });
  });
  const members = [...calls, ...(canAnswer ? [member({ answer: { type: 'string' } })] : [])];
  return { anyOf: members, ...(Object.keys(definitions).length > 0 ? { $defs: definitions } : {}) };
}

function member(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
