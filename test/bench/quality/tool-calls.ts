/**
 * Tools bound to a call as a model server does it for Qwen2.5: all schemas in the system part by the model's own chat
 * template (`tokenizer_config.json` of Qwen2.5-Instruct), the calls read from the free text of the answer.
 */
import type { Prompt } from '../../../src/core/model/model.js';
import type { Step } from '../../../src/core/result.js';

export interface BoundTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
}

export interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** Room for the calls of one answer, in tokens. */
export const MAX_CALL_TOKENS = 512;

const DEFAULT_SYSTEM = 'You are Qwen, created by Alibaba Cloud. You are a helpful assistant.';

/** @param system of the application; without it the template's own. */
export function renderBoundTools(tools: readonly BoundTool[], user: string, system = DEFAULT_SYSTEM): Prompt {
  if (tools.length === 0) return { system, user };
  const lines = tools.map((tool) => `\n${toPythonJson({ type: 'function', function: tool })}`).join('');
  return {
    system: `${system}\n\n# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with function signatures within <tools></tools> XML tags:\n<tools>${lines}\n</tools>\n\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\n<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>`,
    user,
  };
}

/** As the template's `tojson` writes it: a space behind each comma and colon. */
export function toPythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toPythonJson).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}: ${toPythonJson(one)}`).join(', ')}}`;
}

/**
 * Every object with a `name` and `arguments`, wherever it stands: in `<tool_call>`, in a code fence, bare, or in a
 * list. Servers read as much for this family, since its coder models often leave the tags out. With a description
 * beside its parameters it is a tool that is told of again, and no call.
 */
export function readToolCalls(text: string): ToolCall[] {
  return objectsIn(text).flatMap((value): ToolCall[] => {
    const { name, description, arguments: given, parameters } = Object(value);
    const values = given ?? (description === undefined ? parameters : undefined);
    if (typeof name !== 'string' || typeof values !== 'object' || values === null) return [];
    return [{ name, arguments: { ...values } }];
  });
}

/**
 * Whether the answer calls nothing. A call of a tool that does not exist, or one that breaks off, is no abstention
 * (irrelevance detection of BFCL, Patil et al., 2025).
 */
export function isWithoutCalls(text: string): boolean {
  return readToolCalls(text).length === 0 && !text.includes('<tool_call>');
}

/** Calls written all at once, as the steps of a plan: none refers to another. */
export function stepsOf(calls: readonly ToolCall[]): Step[] {
  return calls.map((call, place) => ({
    id: `s${place + 1}`,
    tool: call.name,
    arguments: { ...call.arguments },
    purpose: '',
    dependsOn: [],
  }));
}

/** The outermost JSON objects of a text, in order. */
function objectsIn(text: string): unknown[] {
  const found: unknown[] = [];
  for (let start = text.indexOf('{'); start >= 0; start = text.indexOf('{', start)) {
    const end = endOfObject(text, start);
    const value = end === undefined ? undefined : parseObject(text.slice(start, end));
    if (value !== undefined) found.push(value);
    start = value === undefined || end === undefined ? start + 1 : end;
  }
  return found;
}

/** Behind the brace that closes the one at `start`; braces within texts don't count. */
function endOfObject(text: string, start: number): number | undefined {
  let depth = 0;
  let isInText = false;
  for (let place = start; place < text.length; place++) {
    const letter = text[place];
    if (isInText && letter === '\\') place += 1;
    else if (letter === '"') isInText = !isInText;
    else if (!isInText && letter === '{') depth += 1;
    else if (!isInText && letter === '}') depth -= 1;
    if (depth === 0) return place + 1;
  }
  return undefined;
}

function parseObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
