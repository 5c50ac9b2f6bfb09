/** `winnow-planner/agents`: sessions behind a policy, discovery of tools, a sandbox, runs of plans, and their store. */
export { type Agents, type AgentsParts, createAgents } from './agents.js';
export type {
  Caller,
  CallInput,
  CallResult,
  CreateSessionInput,
  EnableInput,
  EnableOutput,
  ListInput,
  ListOutput,
  SearchInput,
  SearchOutput,
  SessionView,
} from './contracts.js';
export { createKeptPlans, type KeptPlan, type KeptPlans } from './kept-plans.js';
export { createCallLog, withCallLog } from './logging/call-log.js';
export type { RouterOptions, RouterParts } from './parts.js';
export { createPolicy, type Policy, type PolicyInput } from './policy/policy.js';
export { fixedPolicy, openPolicyFile, type PolicySource } from './policy/policy-file.js';
export { createPrivateTools, type PrivateTools } from './private-tools.js';
export { type OpenRates, openRates, type RateLimiter } from './rates/rate-limiter.js';
export type { Approval, AuditEntry, TelemetryEvent } from './records.js';
export { type AskOptions, createRouter, type Router } from './router.js';
export { type ArazzoOptions, toArazzo, toMermaid } from './runs/draw-plan.js';
export type { PlanRun, PlanRunEvent, RunnablePlan, StepState } from './runs/plan-run.js';
export { createReplanner } from './runs/replanner.js';
export { type ResumeOptions, type RunPlanOptions, resumePlan, runPlan } from './runs/run-plan.js';
export { createGatedRunner, createToolRunner, type ToolRunner } from './runs/tool-runner.js';
export type { Executor, ExecutorCall } from './sandbox/executors/executor.js';
export {
  createFunctionExecutor,
  createSkillExecutor,
  type FunctionContext,
  type ToolFunction,
} from './sandbox/executors/functions.js';
export { createHttpExecutor, type HttpExecutorOptions } from './sandbox/executors/http/http.js';
export { createMcpExecutor, type McpExecutor, type McpExecutorOptions } from './sandbox/executors/mcp.js';
export { createWorkerExecutor, type WorkerFunction, type WorkerOptions } from './sandbox/executors/workers.js';
export type { SandboxLimitsInput } from './sandbox/limits.js';
export { createSandbox, type Sandbox, type SandboxParts } from './sandbox/sandbox.js';
export { createDiscovery, type Discovery, type DiscoveryParts } from './search/discovery.js';
export { createRerank } from './search/rerank.js';
export { type OpenOptions, openStore, type StorePlace } from './store/open-store.js';
export type { Store } from './store/sql/sql-store.js';
export { reportTelemetry } from './telemetry/rates.js';
