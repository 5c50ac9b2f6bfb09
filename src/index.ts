/** Entry `winnow-planner`: catalogue, model and planner. Agents, LangChain, MCP and evaluation have their own entries. */
export { type Catalog, type CatalogOptions, createCatalog } from './core/catalog/catalog.js';
export { type LoadedCatalog, type LoadOptions, loadCatalog } from './core/catalog/load.js';
export type { Rule } from './core/catalog/rule.js';
export type { ToolFilter, View } from './core/catalog/scope.js';
export type { SourceSpec } from './core/catalog/sources/source.js';
export type { Tool, ToolEntry } from './core/catalog/tool.js';
export { ERROR_TABLE, type ErrorCode, WinnowError } from './core/errors.js';
export {
  type CreateModelHooks,
  createLocalModels,
  createModel,
  type LocalModels,
  type ModelSettings,
} from './core/model/create-model.js';
export type { Completion, CompletionRequest, Model, ReaderRequest, TokenReader, Usage } from './core/model/model.js';
export { createOpenAIModel } from './core/model/openai/openai-model.js';
export type { OpenAIModelOptions } from './core/model/openai/options.js';
export type { OptionsInput } from './core/options.js';
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
  type TraceEvent,
} from './core/result.js';
