/** What is measured: one request from message to plan by each, and the floors below them. All ask the same server. */

import { getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { createOpenAIModel } from '../../dist/core/model/openai/openai-model.js';
import { createCatalog, createPlanner } from '../../dist/index.js';
import { OPTIONS } from './bench-catalogs.mjs';
import { createSelectingAgent } from './langchain-agent.mjs';

const MODEL = 'zero-latency';
const KEY = 'no-key';

export function createWinnow(catalog, { origin, onRequest }) {
  const model = createOpenAIModel({ baseUrl: `${origin}/winnow/${catalog.key}/v1`, model: MODEL, apiKey: KEY });
  const seen = onRequest ? { ...model, complete: (request) => model.complete(onRequest(request)) } : model;
  const planner = createPlanner({ catalog: createCatalog(catalog.tools), model: seen, options: OPTIONS });
  return async ({ message }) => {
    const result = await planner.plan({ message });
    if (result.kind !== 'plan' || result.selection.mode !== 'selected')
      throw new Error(`Winnow made no plan: ${JSON.stringify(result).slice(0, 2000)}`);
    return {
      loaded: result.selection.tools.length,
      rung: result.trace.find((event) => event.stage === 'summaries')?.rung,
    };
  };
}

export function createLangChain(catalog, { origin, fetch }) {
  const baseURL = `${origin}/langchain/${catalog.key}/v1`;
  const agent = createSelectingAgent(catalog.tools, { baseURL, model: MODEL, maxTools: OPTIONS.maxTools, fetch });
  return async ({ message }) => {
    const { messages } = await agent.invoke({ messages: [{ role: 'user', content: message }] });
    if (messages.length !== 2 || messages[1].content !== 'Done.')
      throw new Error('LangChain did not end after two calls.');
    return {};
  };
}

/** Winnow's two calls of each case through its own model seam, and nothing else of Winnow. */
export async function createTwoModelCalls(catalog, { origin }) {
  const requests = [];
  const onRequest = (request) => {
    requests.push(request);
    return request;
  };
  const winnow = createWinnow(catalog, { origin, onRequest });
  for (const one of catalog.cases) await winnow(one);
  checkTwo(requests, catalog);
  const model = createOpenAIModel({ baseUrl: `${origin}/winnow/${catalog.key}/v1`, model: MODEL, apiKey: KEY });
  return async (one) => {
    const at = catalog.cases.indexOf(one) * 2;
    // The signals of the recorded requests stay with the requests.
    await model.complete({ ...requests[at], signal: undefined });
    await model.complete({ ...requests[at + 1], signal: undefined });
    return {};
  };
}

/** The bytes of Winnow's two calls by the platform's fetch alone. */
export async function createTwoFetches(catalog, { origin }) {
  const { bodies, stop } = createRecorder();
  const winnow = createWinnow(catalog, { origin });
  for (const one of catalog.cases) await winnow(one);
  stop();
  checkTwo(bodies, catalog);
  const send = async (body) => {
    const response = await fetch(`${origin}/winnow/${catalog.key}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    return response.json();
  };
  return async (one) => {
    const at = catalog.cases.indexOf(one) * 2;
    await send(bodies[at]);
    await send(bodies[at + 1]);
    return {};
  };
}

function checkTwo(calls, { cases, label }) {
  if (calls.length !== cases.length * 2)
    throw new Error(`${label}: ${calls.length} calls for ${cases.length} requests.`);
}

/** Keeps what is sent by undici's `request`, until it is stopped, and by the fetch that it gives. */
export function createRecorder() {
  const bodies = [];
  const before = getGlobalDispatcher();
  const dispatcher = before.compose((dispatch) => (options, handler) => {
    if (typeof options.body === 'string') bodies.push(options.body);
    return dispatch(options, handler);
  });
  setGlobalDispatcher(dispatcher);
  const recording = (url, init) => {
    bodies.push(String(init.body));
    return fetch(url, init);
  };
  return { bodies, fetch: recording, stop: () => setGlobalDispatcher(before) };
}
