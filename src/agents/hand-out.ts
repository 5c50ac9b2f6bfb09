/** Lists of tools for clients, with their schemas: only allowed ones. Only narrow lists need the index. */
import { toolHash } from '../core/catalog/catalog.js';
import { withoutLoweringHints } from '../core/catalog/risk.js';
import { isObject, withoutUndefined } from '../core/catalog/schema/json.js';
import { shownTool } from '../core/catalog/shown.js';
import { isVouchedFor } from '../core/catalog/sources/source.js';
import type { Tool } from '../core/catalog/tool.js';
import type { ListedTool, ListOutput, ListRequest } from './contracts.js';
import type { RouterParts, SessionContext } from './parts.js';
import { SESSION_ENDED } from './sessions/enabling.js';
import { enabledTools, type Situation } from './sessions/situation.js';

export async function handOut(
  request: ListRequest,
  situation: Situation,
  { ask, context }: { ask: RouterParts['handOut']; context: SessionContext },
): Promise<ListOutput> {
  if (situation.session.endedAt !== undefined) return { ok: false, ...SESSION_ENDED };
  if (request.mode === 'enabled')
    return { ok: true, mode: 'enabled', tools: enabledTools(situation).map(({ tool }) => toListed(tool)) };
  if (request.mode === 'classic')
    return { ok: true, mode: 'classic', tools: situation.view.tools.filter(situation.isAllowed).map(toListed) };
  if (ask) return ask(request, context);
  return {
    ok: false,
    code: 'index_not_ready',
    reason: 'There is no index for narrow lists.',
    next: 'Ask for the classic list.',
  };
}

/** A text that changes with anything that a client shows of the enabled tools. */
export function fingerprintEnabled(situation: Situation): string {
  const { session } = situation;
  const tools = session.endedAt === undefined ? enabledTools(situation) : [];
  return JSON.stringify(tools.map(({ tool }) => [toolHash(tool), tool.risk, annotationsOf(tool)]).sort());
}

export function toListed(tool: Tool): ListedTool {
  const { name, title, description, category, toolType, risk, inputSchema, outputSchema } = shownTool(tool);
  return withoutUndefined({
    ...{ name, title, description, category, toolType, risk, inputSchema },
    outputSchema: toolType === 'mcp' ? outputSchema : undefined,
    annotations: annotationsOf(tool),
  });
}

function annotationsOf({ metadata, origin }: Tool): ListedTool['annotations'] {
  const { annotations = metadata.mcp === undefined ? undefined : {} } = metadata;
  if (!isObject(annotations)) return undefined;
  return isVouchedFor({ metadata, origin }) ? annotations : withoutLoweringHints(annotations);
}
