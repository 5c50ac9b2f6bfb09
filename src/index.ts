/** The public API. Everything else is internal and may change. */

export { type Adaptation, type AdaptationOptions, createAdaptation } from './agents/adaptation/adaptation.js';
export { type Agents, type AgentsParts, createAgents } from './agents/agents.js';
export type {
  Caller,
  CallInput,
  CallResult,
  CreateSessionInput,
  DisableInput,
  DisableOutput,
  EnableInput,
  EnableOutput,
  ListInput,
  ListOutput,
  SearchInput,
  SearchOutput,
  SessionView,
} from './agents/contracts.js';
export type { IndexStatus, ToolIndex } from './agents/index/tool-index.js';
export type { ListedRule, RuleList } from './agents/kept-rules.js';
export { createKeptRules, type KeptRules } from './agents/kept-rules.js';
export { type CatalogReload, createLiveCatalog, type LiveCatalog } from './agents/live-catalog.js';
export { createCallLog, withCallLog } from './agents/logging/call-log.js';
export type { RouterOptions, RouterParts } from './agents/parts.js';
export { createToolChanges, type ToolChanges } from './agents/parts.js';
export { createPolicy, type Policy, type PolicyInput } from './agents/policy/policy.js';
export { fixedPolicy, openPolicyFile, type PolicySource } from './agents/policy/policy-file.js';
export { createPrivateTools, type PrivateTools } from './agents/private-tools.js';
export {
  parseQuotas,
  parseRetention,
  type Quotas,
  type QuotasInput,
  type Retention,
  type RetentionInput,
} from './agents/quotas.js';
export type {
  Approval,
  ApprovalOutput,
  AuditEntry,
  RequestApprovalInput,
  TelemetryEvent,
} from './agents/records.js';
export { type AskOptions, createRouter, type Router } from './agents/router.js';
export type { PlanRun, PlanRunEvent, RunnablePlan, StepState } from './agents/runs/plan-run.js';
export { createReplanner } from './agents/runs/replanner.js';
export { type ResumeOptions, type RunPlanOptions, resumePlan, runPlan } from './agents/runs/run-plan.js';
export { createGatedRunner, createToolRunner, type ToolRunner } from './agents/runs/tool-runner.js';
export type { Executor, ExecutorCall } from './agents/sandbox/executors/executor.js';
export {
  createFunctionExecutor,
  createSkillExecutor,
  type FunctionContext,
  type ToolFunction,
} from './agents/sandbox/executors/functions.js';
export { createHttpExecutor, type HttpExecutorOptions } from './agents/sandbox/executors/http/http.js';
export { createMcpExecutor, type McpExecutorOptions } from './agents/sandbox/executors/mcp.js';
export { createWorkerExecutor, type WorkerFunction, type WorkerOptions } from './agents/sandbox/executors/workers.js';
export type { SandboxLimitsInput } from './agents/sandbox/limits.js';
export { createSandbox, type Sandbox, type SandboxParts } from './agents/sandbox/sandbox.js';
export { createDiscovery, type Discovery, type DiscoveryParts } from './agents/search/discovery.js';
export { createRerank } from './agents/search/rerank.js';
export { type OpenOptions, openStore, type StorePlace } from './agents/store/open-store.js';
export type { Store } from './agents/store/store.js';
export { createMetrics, type Metrics } from './agents/telemetry/metrics.js';
export { reportTelemetry } from './agents/telemetry/rates.js';
export { type Catalog, type CatalogOptions, createCatalog } from './core/catalog/catalog.js';
export { type LoadedCatalog, type LoadOptions, loadCatalog } from './core/catalog/load.js';
export type { Rule } from './core/catalog/rule.js';
export type { ScopeRequest, ToolFilter, View } from './core/catalog/scope.js';
export type { SourceSpec } from './core/catalog/sources/source.js';
export {
  type EntryIssue,
  type JsonSchema,
  type ParsedEntry,
  parseTool,
  type Risk,
  type Tool,
  type ToolEntry,
  type ToolType,
} from './core/catalog/tool.js';
export { ERROR_TABLE, type ErrorCode, WinnowError } from './core/errors.js';
export {
  type CreateModelHooks,
  createLocalModels,
  createModel,
  type LocalModels,
  type ModelSettings,
} from './core/model/create-model.js';
export type {
  Completion,
  CompletionRequest,
  Model,
  ModelLimits,
  Prompt,
  ReaderRequest,
  Token,
  TokenReader,
  Usage,
} from './core/model/model.js';
export { createOpenAIModel } from './core/model/openai/openai-model.js';
export type { OpenAIModelOptions } from './core/model/openai/options.js';
export { type Options, type OptionsInput, resolveOptions } from './core/options.js';
export { type CallOptions, createPlanner, type Planner, type PlannerParts } from './core/planner.js';
export { type Message, type PlanRequest, requestSchema } from './core/request.js';
export {
  type Plan,
  type PlanResult,
  resultSchema,
  type SelectedTool,
  type Selection,
  type SelectResult,
  type Step,
  selectResultSchema,
  type TraceEvent,
} from './core/result.js';
