/** What a tool's full schema costs as it is bound today: name, description and input schema as JSON. */
import { createToolTokens } from '../model/tool-tokens.js';

/** In tokens of the model that would be shown it. */
export const createSchemaTokens = createToolTokens(({ name, description, inputSchema: parameters }) =>
  JSON.stringify({ name, description, parameters }),
);
