/**
 * Ways to select tools, side by side: Winnow, Winnow with a stage left out, keywords alone, and LangChain's
 * `llmToolSelectorMiddleware` on the same model. Each is `(catalog, {model, maxTools}) => async (request) => names`.
 */
import MiniSearch from 'minisearch';
import { createScope } from '../../dist/core/catalog/scope.js';
import { oncePer } from '../../dist/core/kept.js';
import { renderContext, searchText } from '../../dist/core/prompts/context.js';
import { parseRequest } from '../../dist/core/request.js';
import { keywordSearchOf } from '../../dist/core/search/rank.js';
import { DEFAULT_STAGES } from '../../dist/core/selection/stages.js';
import { createPlanner } from '../../dist/index.js';
import { createSelectingAgent } from './langchain-agent.mjs';
import { LONGEST_MS } from './sets.mjs';

export const SELECTORS = {
  winnow: planner({}),
  'winnow-list': planner({ answer: 'list' }),
  ...Object.fromEntries(DEFAULT_STAGES.map(({ name }) => [`winnow-no-${name}`, planner({}, name)])),
  keywords: search(async (view) => {
    const find = await keywordSearchOf(view);
    return async (query, limit) => (await find(query, limit)).map(({ tool }) => tool.name);
  }),
  bm25: search(({ tools }) => {
    const index = new MiniSearch({ fields: ['name', 'description'] });
    index.addAll(tools.map(({ name, description }, id) => ({ id, name, description })));
    const found = (query) => index.search(query);
    return (query, limit) =>
      found(query)
        .slice(0, limit)
        .map(({ id }) => tools[id].name);
  }),
  /** As it is: the model sees no schema of the answer, as on llama.cpp. */
  langchain: langChain('nothing'),
  'langchain-shown': langChain('names'),
  'langchain-described': langChain('descriptions'),
};

/** By keywords alone: no model is asked. */
export const isSearch = (id) => id === 'keywords' || id === 'bm25';

/** @throws Error that names what there is */
export function selectorOf(id) {
  const found = SELECTORS[id];
  if (!found) throw new Error(`There is no selector "${id}": use ${Object.keys(SELECTORS).join(', ')}.`);
  return found;
}

/** More tools than the others may hand on would be no comparison, so nothing passes through. */
function planner(options, without) {
  return (catalog, { model, maxTools }) => {
    const stages = DEFAULT_STAGES.filter(({ name }) => name !== without);
    const all = { timeoutMs: LONGEST_MS, passthroughTools: 0, maxTools, ...options };
    const made = createPlanner({ catalog, model, stages, options: all });
    return async (request) => (await made.select(request)).tools.map(({ name }) => name);
  };
}

function search(build) {
  return (catalog, { maxTools }) => {
    const viewOf = createScope(catalog);
    const findIn = oncePer(build);
    return async (input) => {
      const request = parseRequest(input);
      const find = await findIn(viewOf(request));
      return find(searchText(request), maxTools);
    };
  };
}

/** Room for all names of the largest selection, many times over: a server without a bound writes until its context is full. */
const MAX_SELECTION_TOKENS = 1_024;

/** The agent is really run. What is handed on are the tools bound to its own call behind the selection. */
function langChain(shows) {
  return (catalog, { model, maxTools }) => {
    const viewOf = createScope(catalog);
    return async (input) => {
      const { history = [], ...request } = parseRequest(input);
      const { tools } = viewOf(input);
      const bridge = createBridge(model, { shows, tools });
      const agent = createSelectingAgent(tools, { baseURL: 'http://bridge.invalid/v1', maxTools, fetch: bridge.fetch });
      const said = `${renderContext(request, { historyMessages: 0, historyCharacters: 0 })}${request.message}`;
      const messages = [...history.filter(({ role }) => role !== 'tool'), { role: 'user', content: said }];
      // What the middleware throws its caller gets, and so nothing is handed on.
      await agent.invoke({ messages }).catch((error) => {
        if (bridge.fault) throw bridge.fault;
        console.error(`LangChain: ${String(error.message).replace(/\s+/gu, ' ').slice(0, 80)}`);
      });
      return bridge.bound;
    };
  };
}

/** An OpenAI-compatible endpoint in front of a model of this process, as a `fetch`. */
function createBridge(model, { shows, tools }) {
  const bridge = { bound: [], fault: undefined, fetch: answer };
  return bridge;

  async function answer(_, init) {
    const { messages, tools: bound = [], response_format: format } = JSON.parse(String(init.body));
    try {
      if (format) return Response.json(render(await select(messages, format.json_schema)));
      // The measured turn ends here: a call handed back would make the agent run the tool and ask again.
      bridge.bound = bound.map((tool) => tool.function.name);
      return Response.json(render({ text: 'Done.', finish: 'stop', usage: { read: 0, cached: 0, written: 0 } }));
    } catch (error) {
      // A prompt that is too long is the caller's; all else is the bench's own.
      if (error.code !== 'context_exceeded') bridge.fault = error;
      return Response.json({ error: { message: error.message } }, { status: 400 });
    }
  }

  async function select(messages, { name, schema }) {
    const system = messages.find(({ role }) => role === 'system')?.content ?? '';
    const turns = messages.filter(({ role }) => role !== 'system');
    const user = turns.map(({ role, content }) => (turns.length === 1 ? content : `${role}: ${content}`)).join('\n');
    const seen =
      shows === 'descriptions' ? withDescriptions(schema, new Map(tools.map((one) => [one.name, one]))) : schema;
    // As OpenAI publishes it for its open models ("harmony" format, section on structured output).
    const shown = shows === 'nothing' ? '' : `\n\n# Response Formats\n\n## ${name}\n\n${JSON.stringify(seen)}`;
    const prompt = { system: `${system}${shown}`, user };
    const asked = { stage: 'selection', maxTokens: MAX_SELECTION_TOKENS, prompt, schema: { name, schema } };
    return endLoop(await model.complete(asked));
  }
}

/** The model in process ends a list that only repeats itself: the selector gets it as far as it came. */
function endLoop(completion) {
  const { text, finish } = completion;
  if (finish !== 'loop') return completion;
  return { ...completion, text: `${text.slice(0, text.lastIndexOf('",') + 1)}]}`, finish: 'stop' };
}

/** A list of names -> one of alternatives, each with what it means, as pydantic writes annotated literals. */
function withDescriptions(schema, byName) {
  if (Array.isArray(schema)) return schema.map((one) => withDescriptions(one, byName));
  if (typeof schema !== 'object' || schema === null) return schema;
  const description = (name) => byName.get(name)?.description ?? '';
  if (Array.isArray(schema.enum))
    return { anyOf: schema.enum.map((name) => ({ const: name, description: description(name), type: 'string' })) };
  return Object.fromEntries(Object.entries(schema).map(([key, one]) => [key, withDescriptions(one, byName)]));
}

function render({ text, finish, usage }) {
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
