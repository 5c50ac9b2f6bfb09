/** Step runners for `runPlan`: through the gate of a session, or in a sandbox alone. */
import type { Tool } from '../../core/catalog/tool.js';
import { WinnowError } from '../../core/errors.js';
import type { Caller, CallResult } from '../contracts.js';
import type { Router } from '../router.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import { type SecretsOf, secretsAmong } from './mask-secrets.js';
import type { RunStep } from './run-step.js';

export interface ToolRunner {
  readonly run: RunStep;
  readonly isRepeatable: (tool: string) => boolean;
  readonly secretsOf: SecretsOf;
}

/**
 * Runs steps in the sandbox alone, without a gate; see `createGatedRunner`.
 * `tools`: the `byName` of the caller's view.
 * @example
 * const run = await runPlan(plan, createToolRunner(sandbox, planner.view().byName));
 */
export function createToolRunner(sandbox: Sandbox, tools: ReadonlyMap<string, Tool>): ToolRunner {
  return {
    async run({ tool: name, arguments: input, user, session, signal, onProgress, beforeTool }): Promise<CallResult> {
      const tool = tools.get(name);
      if (tool) return sandbox.run({ tool, arguments: input, user, session, signal, onProgress, beforeTool });
      const reason = `There is no tool "${name}".`;
      return { ok: false, code: 'unknown_tool', reason, next: 'Plan again with the tools that there are.' };
    },
    isRepeatable(name) {
      const tool = tools.get(name);
      return tool !== undefined && sandbox.isRepeatable(tool);
    },
    secretsOf: secretsAmong((name) => tools.get(name)),
  };
}

interface GatedRunnerParts {
  readonly router: Pick<Router, 'call'>;
  /** Id of the session that makes the calls. */
  readonly session: string;
  readonly caller?: Caller | undefined;
}

/** Codes of the router's refusals before the gate: nothing has run. */
const TURNED_AWAY = new Set(['invalid_request', 'not_found']);

/**
 * Every step passes the policy, the approvals and the audit of the session, as a call of its agent does.
 * @example
 * const run = await runPlan(plan, { run: createGatedRunner({ router, session }) });
 */
export function createGatedRunner({ router, session, caller }: GatedRunnerParts): RunStep {
  return async ({ tool, arguments: input, sources, approval, plan, signal, onProgress, beforeTool }) => {
    const call = { tool, arguments: input, ...(approval === undefined ? {} : { approval }) };
    try {
      return await router.call(session, call, { caller, signal, sources, plan, onProgress, beforeTool });
    } catch (error) {
      if (!(error instanceof WinnowError) || !TURNED_AWAY.has(error.code)) throw error;
      return { ok: false, code: error.code, reason: error.message, next: 'Open a session and plan again.' };
    }
  };
}
