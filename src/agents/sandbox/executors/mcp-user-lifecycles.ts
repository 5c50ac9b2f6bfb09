/** A server that users authorize: each has a connection of their own, with their own tokens, and none without. */
import { NoToken } from '../../../core/catalog/sources/mcp-issuer.js';
import { connectionPathOf, type ServerTokens, type UserServer } from '../../../core/catalog/sources/mcp-server.js';
import type { UserTokens } from '../../connections/user-tokens.js';
import { type CallFailure, fail } from '../failure.js';
import { createMcpLifecycle, type McpLifecycle, type McpLifecycleOptions } from './mcp-lifecycle.js';

interface UserLifecyclesOptions extends Omit<McpLifecycleOptions, 'tokens'> {
  readonly userTokens: UserTokens | undefined;
}

export function createUserLifecycles(
  name: string,
  server: UserServer,
  { userTokens, ...options }: UserLifecyclesOptions,
): McpLifecycle {
  const open = new Map<string, McpLifecycle>();
  const unlisten = userTokens?.onChange(async (changed) => {
    if (changed.name === name) await end(changed.user);
  });

  function lifecycleOf(user: string, tokens: ServerTokens): McpLifecycle {
    const lifecycle = open.get(user) ?? createMcpLifecycle(name, server, { ...options, tokens });
    open.set(user, lifecycle);
    return lifecycle;
  }

  async function end(user: string): Promise<void> {
    const lifecycle = open.get(user);
    open.delete(user);
    await lifecycle?.close();
  }

  return {
    async use(asked, work) {
      const { user } = asked;
      if (!userTokens || user === undefined) return unconnected(name);
      const place = { user, name, server };
      const tokens = userTokens.of(place);
      const problem = await tokens.token().then(() => undefined, asNoToken);
      const answer = problem
        ? fail('tool_unavailable', `The MCP server "${name}" can't be used: ${problem.message}.`)
        : await lifecycleOf(user, tokens).use(asked, work);
      // A call that broke off may have had its effect.
      if (answer.ok || answer.code !== 'tool_unavailable' || (await userTokens.find(place))) return answer;
      await end(user);
      return unconnected(name);
    },

    // Nothing fails for everybody, and what fails for one user is not told to others.
    whyDown: () => undefined,
    isTried: () => false,
    failure: () => undefined,

    async close() {
      unlisten?.();
      await Promise.all([...open.keys()].map(end));
    },
  };
}

function asNoToken(error: unknown): NoToken {
  if (error instanceof NoToken) return error;
  throw error;
}

function unconnected(name: string): CallFailure {
  const next = `Connect it: POST ${connectionPathOf(name)} answers with the address to open in a browser. Then call again.`;
  const reason = `You have not connected the MCP server "${name}" to your account there, or your authorization has ended.`;
  return fail('not_connected', reason, { next });
}
