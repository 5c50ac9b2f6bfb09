/** The public API. Everything else is internal and may change. */
export { type Catalog, type CatalogOptions, createCatalog } from './catalog/catalog.js';
export { type LoadedCatalog, type LoadOptions, loadCatalog } from './catalog/load.js';
export type { Rule } from './catalog/rule.js';
export type { ScopeRequest, ToolFilter, View } from './catalog/scope.js';
export { toolsFromLangChain } from './catalog/sources/langchain.js';
export type { SourceSpec } from './catalog/sources/source.js';
export {
  type EntryIssue,
  type JsonSchema,
  type ParsedEntry,
  parseTool,
  type Risk,
  type Tool,
  type ToolEntry,
  type ToolType,
} from './catalog/tool.js';
export { type Options, type OptionsInput, resolveOptions } from './config/options.js';
export { ERROR_TABLE, type ErrorCode, WinnowError } from './errors.js';
export { createCallLog, withCallLog } from './logging/call-log.js';
export { createModel, type ModelSettings } from './model/create-model.js';
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
} from './model/model.js';
export { type CallOptions, createPlanner, type Planner, type PlannerParts } from './planner.js';
export { type Message, type PlanRequest, requestSchema } from './request.js';
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
} from './result.js';
