/** The public API. Everything else is internal and may change. */
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
export type { Executor, ExecutorCall } from './execution/executors/executor.js';
export { createFunctionExecutor, type FunctionContext, type ToolFunction } from './execution/executors/functions.js';
export { createHttpExecutor, type HttpExecutorOptions } from './execution/executors/http/http.js';
export { createMcpExecutor, type McpExecutorOptions } from './execution/executors/mcp.js';
export { createSkillExecutor } from './execution/executors/skills.js';
export { createWorkerExecutor, type WorkerFunction, type WorkerOptions } from './execution/executors/workers.js';
export type { SandboxLimitsInput } from './execution/limits.js';
export type { PlanRun, PlanRunEvent, RunnablePlan, StepState } from './execution/plan/plan-run.js';
export { createReplanner } from './execution/plan/replanner.js';
export { type ResumeOptions, type RunPlanOptions, resumePlan, runPlan } from './execution/plan/run-plan.js';
export { createGatedRunner, createToolRunner, type ToolRunner } from './execution/plan/tool-runner.js';
export { createSandbox, type Sandbox, type SandboxParts } from './execution/sandbox.js';
export { type Adaptation, type AdaptationOptions, createAdaptation } from './routing/adaptation/adaptation.js';
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
} from './routing/contracts.js';
export type { IndexStatus, ToolIndex } from './routing/index/tool-index.js';
export type { ListedRule, RuleList } from './routing/kept-rule.js';
export { createKeptRules, type KeptRules } from './routing/kept-rules.js';
export { type CatalogReload, createLiveCatalog, type LiveCatalog } from './routing/live-catalog.js';
export { createCallLog, withCallLog } from './routing/logging/call-log.js';
export type { RouterOptions, RouterParts } from './routing/parts.js';
export { createPolicy, type Policy, type PolicyInput } from './routing/policy/policy.js';
export { fixedPolicy, openPolicyFile, type PolicySource } from './routing/policy/policy-file.js';
export { createPrivateTools, type PrivateTools } from './routing/private-tools.js';
export { parseQuotas, type Quotas, type QuotasInput } from './routing/quotas.js';
export type {
  Approval,
  ApprovalOutput,
  AuditEntry,
  RequestApprovalInput,
  TelemetryEvent,
} from './routing/records.js';
export { parseRetention, type Retention, type RetentionInput } from './routing/retention.js';
export { type AskOptions, createRouter, type Router } from './routing/router.js';
export { createRerank } from './routing/search/create-rerank.js';
export { createDiscovery, type Discovery, type DiscoveryParts } from './routing/search/discovery.js';
export { createMetrics, type Metrics } from './routing/telemetry/metrics.js';
export { reportTelemetry } from './routing/telemetry/report.js';
export { createToolChanges, type ToolChanges } from './routing/tool-changes.js';
export { type OpenOptions, openStore, type StorePlace } from './store/open-store.js';
export type { Store } from './store/store.js';
