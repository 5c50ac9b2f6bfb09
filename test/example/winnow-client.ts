/** What an agent in any language needs of Winnow over HTTP: a session, the tools for a task, and calls. */
import { randomUUID } from 'node:crypto';

export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Record<string, unknown>;
}

export interface Offer {
  readonly tools: readonly OfferedTool[];
  /** The answer of the tool, or why it was not called and what to do, for the model to read. */
  call(tool: string, input: unknown): Promise<string>;
}

/** @param most how many tools the model is shown */
export async function offerTools(url: string, task: string, most = 3): Promise<Offer> {
  const ask = async (method: 'GET' | 'POST', path: string, body?: object) => {
    // A request that is sent again after a lost connection is done once.
    const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID(), 'x-winnow-user': 'ann' };
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    const answer = await fetch(`${url}${path}`, init);
    const content = JSON.parse(await answer.text());
    if (!answer.ok) throw new Error(`Winnow answers ${answer.status}: ${content.detail}`);
    return content;
  };
  const { id } = await ask('POST', '/v1/sessions', {});
  const session = `/v1/sessions/${id}`;
  const { matches } = await ask('POST', `${session}/search`, { query: task, top_k: most });
  await ask('POST', `${session}/enable`, { names: matches.map(({ name }: { name: string }) => name) });
  const { tools } = await ask('GET', `${session}/tools?mode=enabled`);
  return {
    tools,
    async call(tool, input) {
      const result = await ask('POST', `${session}/call`, { tool, arguments: input });
      return JSON.stringify(result.ok ? result.output : { error: result.reason, next: result.next });
    },
  };
}
