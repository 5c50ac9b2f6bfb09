import { describe, expect, it } from '@jest/globals';
import { renderTool } from '../../../src/adapters/mcp/render-tool.js';
import { toListed } from '../../../src/agents/hand-out.js';
import { createTool } from '../../support/create-tool.js';

const mcp = { server: 'notes', tool: 'a', target: '' };
const hintsOf = (more: Parameters<typeof createTool>[3]) =>
  renderTool(toListed(createTool('a', {}, undefined, more)), 'a').annotations;

describe('the hints of a tool that a client gets', () => {
  it.each([
    ['none', undefined, {}],
    ['what it reads', { readOnlyHint: true }, { readOnlyHint: true }],
    ['what is not said of the rest', { idempotentHint: true }, { idempotentHint: true }],
  ])('are those of its MCP server as they came: %s', (_, annotations, shown) => {
    const more = annotations ? { annotations } : {};
    expect(hintsOf({ toolType: 'mcp', risk: 'low', metadata: { mcp }, ...more })).toEqual(shown);
  });

  it('come from the risk where it is of no server', () => {
    expect(hintsOf({ risk: 'medium' })).toEqual({ readOnlyHint: false, destructiveHint: false });
  });
});
