/** The path of a call, in order: arguments, rates, admission, the tool within its time-out, the result. */
import type { Risk, Tool } from '../../core/catalog/tool.js';
import { withSpan } from '../../core/spans.js';
import type { CallResult } from '../contracts.js';
import type { CallListeners } from '../hearing.js';
import { createRateLimiter, type RateLimiter } from '../rates/rate-limiter.js';
import { createAdmission } from './admission.js';
import type { Executor, ServerHealth } from './executors/executor.js';
import { type CallFailure, describeThrown, type FailureCode, fail } from './failure.js';
import { finishFailure, finishOutput, READ_FACTOR } from './finish-output.js';
import { limitListeners } from './limit-listeners.js';
import { checkLimits, type Rate, resolveLimits, type SandboxLimitsInput, type ToolLimits } from './limits.js';
import { checkArguments, prepareArguments } from './prepare-arguments.js';
import { runWithin } from './run-within.js';

export interface SandboxParts {
  /** The first that can run a tool runs it. */
  executors: readonly Executor[];
  limits?: SandboxLimitsInput | undefined;
  /** Counts calls for the rates; servers may share it. Default: one for this sandbox. */
  rates?: RateLimiter | undefined;
}

export interface SandboxCall extends CallListeners {
  /** A tool of the caller's view; the sandbox does no authorization. */
  tool: Tool;
  /** Untrusted: validated here. */
  arguments: unknown;
  user?: string | undefined;
  session?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Default: nobody has decided, so the defaults of the schema are filled in, and the tool's own risk counts. */
  decided?: DecidedCall | undefined;
  /** Called right before the tool: what it throws ends the call. Default: not called. */
  beforeTool?: (() => Promise<void>) | undefined;
}

/** What a gate has decided on a call, whose arguments then run as they are. */
export interface DecidedCall {
  /** Of the call with its arguments. */
  readonly risk: Risk;
  /** The call has used an approval, so it is sent once at most. */
  readonly isApproved: boolean;
  /** Asked again where the call has waited, before it runs or is sent: a refusal ends it. */
  findRefusal(): Promise<CallFailure | undefined>;
}

export interface Sandbox {
  /** Never throws: failures, in the tool or around it, are results with a code of FAILURE_TABLE. */
  run(call: SandboxCall): Promise<CallResult>;
  /** The arguments as `run` would pass them to the tool, for a gate that must judge what really runs. */
  prepare: typeof prepareArguments;
  /** Whether a call may be made twice: low risk of the tool and of the call, or marked `idempotent`. @param risk default: the tool's */
  isRepeatable(tool: Tool, risk?: Risk): boolean;
  /** Why calls of the tool fail for everybody now. Undefined: they are tried. */
  whyDown(tool: Tool): string | undefined;
  /** Health of the servers that were called. */
  health(): ServerHealth;
  /** Reports limits without effect: names that none of these tools has. */
  checkLimits(tools: readonly Tool[]): string[];
  /** Ends the connections and processes of all executors. Idempotent. */
  close(): Promise<void>;
}

/**
 * Checks arguments, bounds time, memory and rates of calls, and runs them by the first executor that can.
 * @throws WinnowError `invalid_option`
 * @example
 * const sandbox = createSandbox({
 *   executors: [createFunctionExecutor({ greet: () => 'hello' })],
 *   limits: { timeoutMs: 10_000 },
 * });
 */
export function createSandbox(parts: SandboxParts): Sandbox {
  const limits = resolveLimits(parts.limits);
  const admission = createAdmission(limits);
  const rates = parts.rates ?? createRateLimiter();
  const executorOf = (tool: Tool) => parts.executors.find((one) => one.canRun(tool));
  const isRepeatable = (tool: Tool, risk = tool.risk) =>
    (tool.risk === 'low' && risk === 'low') || limits.of(tool).idempotent;

  async function run(call: SandboxCall, onBegin: () => void): Promise<CallResult> {
    const startedAt = performance.now();
    const { tool, decided } = call;
    const executor = executorOf(tool);
    if (!executor)
      return fail(
        'not_runnable',
        `No executor can run ${tool.name}, whose toolType is ${tool.toolType}. Functions run builtin tools alone: give them by toolsModule in winnow.yaml.`,
      );
    const toolLimits = limits.of(tool, executor.defaultTimeoutMs?.(tool));
    const prepared = (decided ? checkArguments : prepareArguments)(tool, call.arguments);
    if (!prepared.ok) return prepared;
    const limited = await takeRates(call, toolLimits);
    if (limited) return limited;
    const place = await admission.enter({ group: toolLimits.mutexGroup, user: call.user, signal: call.signal });
    if (!place.ok) return place;
    const findRefusal = () => refusalOf(call);
    const refusal = place.hasWaited ? await findRefusal() : undefined;
    if (refusal) place.leave();
    if (refusal) return refusal;
    await Promise.resolve(call.beforeTool?.()).catch((error: unknown) => {
      place.leave();
      throw error;
    });
    const { timeoutMs, totalTimeoutMs, maxOutputBytes } = toolLimits;
    const bounds = { timeoutMs, totalTimeoutMs, stopGraceMs: limits.stopGraceMs, signal: call.signal };
    onBegin();
    const listening = limitListeners(call);
    const running = runWithin(bounds, ({ signal, prolong }) =>
      executor.run({
        tool,
        arguments: prepared.arguments,
        user: call.user,
        session: call.session,
        signal,
        maxReadBytes: maxOutputBytes * READ_FACTOR,
        repeatable: !decided?.isApproved && isRepeatable(tool, decided?.risk),
        findRefusal,
        ...listening.within({ prolong, timeoutMs }),
      }),
    );
    void running.ended.then(place.leave);
    const executed = await running.result;
    listening.end();
    if (!executed.ok) return finishFailure(executed, toolLimits);
    const finished = finishOutput(tool, executed, toolLimits);
    if (!finished.ok) return finished;
    return {
      ...finished,
      notes: [...prepared.notes, ...finished.notes],
      milliseconds: Math.round((performance.now() - startedAt) * 10) / 10,
    };
  }

  /** Before the queue, so that a user over their rate does not fill it for others. */
  async function takeRates(
    { tool, user }: SandboxCall,
    { rate, sharedRate }: ToolLimits,
  ): Promise<CallFailure | undefined> {
    const who = JSON.stringify([user ?? null]);
    const what = `tool ${JSON.stringify([tool.scope, tool.name])}`;
    const claim = (key: string, rate?: Rate) =>
      rate ? [{ key, rate: { points: rate.calls, seconds: rate.seconds } }] : [];
    const limited = await rates.take([
      ...claim(`${what} by ${who}`, rate),
      ...claim(what, sharedRate),
      ...claim(`user ${who}`, limits.userRate),
    ]);
    if (!limited) return undefined;
    const often = limited.key.startsWith('user') ? 'You call tools too often' : `${tool.name} is called too often`;
    return fail('rate_limited', `${often}. The next call is free in ${limited.waitMs} ms.`);
  }

  return {
    run: (call) =>
      withSpan(`execute_tool ${call.tool.name}`, aboutCall(call), async (note) => {
        let code: FailureCode = 'not_started';
        const onBegin = () => {
          code = 'tool_failed';
        };
        const result = await run(call, onBegin).catch((thrown: unknown) =>
          fail(code, `The call of ${call.tool.name} failed: ${describeThrown(thrown)}`),
        );
        if (!result.ok) note.set({ 'error.type': result.code });
        return result;
      }),
    prepare: prepareArguments,
    isRepeatable,
    whyDown: (tool) => executorOf(tool)?.whyDown?.(tool),
    health: () => new Map(parts.executors.flatMap((one) => [...(one.health?.() ?? [])])),
    checkLimits: (tools) => checkLimits(limits, tools),
    async close() {
      await Promise.all(parts.executors.map((executor) => executor.close?.()));
    },
  };
}

/** Never throws: a call that can't be decided again is not made. */
async function refusalOf({ tool, decided }: SandboxCall): Promise<CallFailure | undefined> {
  try {
    return await decided?.findRefusal();
  } catch (thrown) {
    return fail('not_started', `The call of ${tool.name} can't be decided: ${describeThrown(thrown)}`);
  }
}

/** By the conventions of OpenTelemetry for GenAI. */
function aboutCall({ tool }: SandboxCall) {
  return { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool.name };
}
