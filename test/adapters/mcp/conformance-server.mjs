// An MCP server on stdio with what the protocol's suite looks for and Winnow has from servers alone.
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  ElicitResultSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

const text = (words) => ({ type: 'text', text: words });
const image = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' };
const resource = (uri, mimeType, words) => ({ type: 'resource', resource: { uri, mimeType, text: words } });
const said = ({ action, content = {} }) => [text(`action=${action}, content=${JSON.stringify(content)}`)];
const choice = (more) => ({ type: 'string', description: 'Select one option', ...more });
const choices = (items) => ({ type: 'array', description: 'Select options', minItems: 1, maxItems: 3, items });
const OPTIONS = ['option1', 'option2', 'option3'];
const TITLED = [1, 2, 3].map((number) => ({ const: `value${number}`, title: `Option ${number}` }));

const DEFAULTS = {
  name: { type: 'string', description: 'User name', default: 'John Doe' },
  age: { type: 'integer', description: 'User age', default: 30 },
  score: { type: 'number', description: 'User score', default: 95.5 },
  status: { type: 'string', description: 'Status', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', description: 'Verification status', default: true },
};
const ENUMS = {
  untitledSingle: choice({ enum: OPTIONS }),
  titledSingle: choice({ oneOf: TITLED }),
  legacyEnum: choice({ enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] }),
  untitledMulti: choices({ type: 'string', enum: OPTIONS }),
  titledMulti: choices({ anyOf: TITLED }),
};
const RESPONSE = { response: { type: 'string', description: "User's response" } };

/** Name -> its blocks. */
const TOOLS = {
  test_image_content: () => [image],
  test_audio_content: () => [{ type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' }],
  test_embedded_resource: () => [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource.')],
  test_multiple_content_types: () => [
    text('Multiple content types test:'),
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
  async test_tool_with_logging(_, { log }) {
    for (const words of ['started', 'processing data', 'completed']) await log(`Tool execution ${words}`);
    return [text('done')];
  },
  async test_tool_with_progress(_, { progress }) {
    for (const done of [0, 50, 100]) await progress(done);
    return [text('done')];
  },
  test_elicitation: async ({ message }, { ask }) => said(await ask(message, RESPONSE)),
  test_elicitation_sep1034_defaults: async (_, { ask }) => said(await ask('Please review the form', DEFAULTS)),
  test_elicitation_sep1330_enums: async (_, { ask }) => said(await ask('Please select options', ENUMS)),
};

const capabilities = { tools: {}, logging: {}, resources: {}, prompts: {} };
const server = new Server({ name: 'suite', version: '1.0.0' }, { capabilities });
server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [{ uri: 'test://static-text', name: 'a' }] }));
server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
  resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'b' }],
}));
server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => ({ contents: [{ uri, text: 'words' }] }));
server.setRequestHandler(ListPromptsRequestSchema, () => ({
  prompts: [{ name: 'test_simple_prompt', description: 'A prompt.' }],
}));
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: Object.keys(TOOLS).map((name) => ({ name, description: 'A tool.', inputSchema: { type: 'object' } })),
}));
server.setRequestHandler(CallToolRequestSchema, async ({ params }, { sendNotification, sendRequest, _meta }) => {
  const notify = (method, told) => sendNotification({ method: `notifications/${method}`, params: told });
  const content = await TOOLS[params.name](params.arguments ?? {}, {
    log: (data) => notify('message', { level: 'info', data }),
    progress: (progress) => notify('progress', { progressToken: _meta.progressToken, progress, total: 100 }),
    ask(message, properties) {
      const form = { message, requestedSchema: { type: 'object', properties } };
      return sendRequest({ method: 'elicitation/create', params: form }, ElicitResultSchema);
    },
  });
  return { content };
});
await server.connect(new StdioServerTransport());
