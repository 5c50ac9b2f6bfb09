/** OpenAI's SDK with tools behind Winnow, by the Chat and by the Responses API: the model is shown the few for its task. */
import type OpenAI from 'openai';
import { offerTools } from './winnow-client.js';

interface Task {
  readonly client: OpenAI;
  readonly model: string;
  /** Of `winnow serve`. */
  readonly winnow: string;
  readonly task: string;
}

const MOST_STEPS = 10;

export async function askByChat({ client, model, winnow, task }: Task): Promise<string> {
  const { tools, call } = await offerTools(winnow, task);
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: task }];
  for (let step = 0; step < MOST_STEPS; step++) {
    const { choices } = await client.chat.completions.create({
      ...{ model, messages },
      tools: tools.map(({ name, description, inputSchema: parameters }) => ({
        type: 'function',
        function: { name, description, parameters },
      })),
    });
    const message = choices[0]?.message;
    if (!message?.tool_calls?.length) return message?.content ?? '';
    messages.push(message);
    for (const one of message.tool_calls)
      if (one.type === 'function')
        messages.push({
          role: 'tool',
          tool_call_id: one.id,
          content: await call(one.function.name, JSON.parse(one.function.arguments)),
        });
  }
  throw new Error(`No answer after ${MOST_STEPS} steps.`);
}

export async function askByResponses({ client, model, winnow, task }: Task): Promise<string> {
  const { tools, call } = await offerTools(winnow, task);
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: task }];
  for (let step = 0; step < MOST_STEPS; step++) {
    const response = await client.responses.create({
      ...{ model, input },
      tools: tools.map(({ name, description, inputSchema: parameters }) => ({
        ...{ type: 'function', name, description, parameters, strict: false },
      })),
    });
    const calls = response.output.filter((item) => item.type === 'function_call');
    if (calls.length === 0) return response.output_text;
    for (const one of calls) {
      const output = await call(one.name, JSON.parse(one.arguments));
      input.push(one, { type: 'function_call_output', call_id: one.call_id, output });
    }
  }
  throw new Error(`No answer after ${MOST_STEPS} steps.`);
}
