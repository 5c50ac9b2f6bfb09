/** `winnow/langchain`: agents of LangChain on Winnow. Needs the packages `langchain` and `@langchain/langgraph`. */
export { type ApprovalInterrupt, type ApprovalResume, approvalResumeSchema } from './approval-interrupt.js';
export { toolsFromLangChain } from './bound-tools.js';
export { type ChatModelOptions, createChatModel, WinnowChatModel } from './chat-model/chat-model.js';
export { createMetaTools } from './meta-tools.js';
export { createRoutingMiddleware, type RoutingMiddlewareOptions } from './routing-middleware.js';
export type { RoutingContext } from './threads.js';
export { createToolSelector, type ToldSelection, type ToolSelectorOptions } from './tool-selector/tool-selector.js';
