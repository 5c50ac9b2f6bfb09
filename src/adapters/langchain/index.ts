/** `winnow-planner/langchain`, for agents of LangChain. Needs `langchain`, `@langchain/core` and `@langchain/langgraph`. */
export type { ApprovalInterrupt, ApprovalResume } from './approval-interrupt.js';
export { toolsFromLangChain } from './bound-tools.js';
export { type ChatModelOptions, createChatModel, type WinnowChatModel } from './chat-model/chat-model.js';
export { createMetaTools } from './meta-tools.js';
export { createRoutingMiddleware, type RoutingMiddlewareOptions } from './routing-middleware.js';
export type { RoutingContext } from './threads.js';
export { createToolSelector, type ToldSelection, type ToolSelectorOptions } from './tool-selector/tool-selector.js';
