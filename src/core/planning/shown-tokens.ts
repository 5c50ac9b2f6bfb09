/** What a tool takes in the planning prompt, with what it returns and its instructions, not only its input schema. */
import { createToolTokens } from '../model/count-tokens.js';
import { renderTool } from './render-tool.js';

/** In tokens of the model that is shown it. */
export const createShownTokens = createToolTokens(renderTool);
