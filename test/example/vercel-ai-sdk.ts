/** The AI SDK of Vercel with tools behind Winnow: its loop makes the calls, and each passes Winnow's policy. */
import { generateText, jsonSchema, type LanguageModel, stepCountIs, tool } from 'ai';
import { offerTools } from './winnow-client.js';

export async function askByAiSdk({ model, winnow, task }: { model: LanguageModel; winnow: string; task: string }) {
  const offer = await offerTools(winnow, task);
  const tools = offer.tools.map(({ name, description, inputSchema }) => [
    name,
    tool({ description, inputSchema: jsonSchema(inputSchema), execute: (input) => offer.call(name, input) }),
  ]);
  const { text } = await generateText({
    ...{ model, prompt: task },
    tools: Object.fromEntries(tools),
    stopWhen: stepCountIs(10),
  });
  return text;
}
