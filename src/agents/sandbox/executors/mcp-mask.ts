/** Takes the keys of an MCP server out of what it says during a call. */
import type { z } from 'zod';
import { isObject, type JsonSchema, objectOf } from '../../../core/catalog/schema/json.js';
import type { AskedByServer } from '../../../core/catalog/sources/mcp-connection.js';
import type { rawResultSchema } from '../../../core/catalog/sources/mcp-transport.js';
import { maskTexts } from '../../../core/secret-forms.js';
import type { ExecutorCall } from './executor.js';

export type McpContent = z.infer<typeof rawResultSchema>['raw'];

type Mask = (text: string) => string;

export function maskContent({ content, structuredContent, isError, _meta }: McpContent, mask: Mask): McpContent {
  return {
    content: content.map((block) => maskBlock(block, mask)),
    structuredContent: maskTexts(structuredContent, mask),
    isError,
    ...(_meta && { _meta: objectOf(maskTexts(_meta, mask)) }),
  };
}

/** All but the base64 of media, which may hold the letters of a key by chance. */
function maskBlock(block: unknown, mask: Mask): unknown {
  if (!isObject(block)) return maskTexts(block, mask);
  const { type, resource } = block;
  if (type === 'image' || type === 'audio') return maskBeside('data', block, mask);
  if (type !== 'resource' || !isObject(resource)) return maskTexts(block, mask);
  return { ...objectOf(maskTexts({ ...block, resource: null }, mask)), resource: maskBeside('blob', resource, mask) };
}

function maskBeside(name: string, { [name]: bytes, ...words }: JsonSchema, mask: Mask): JsonSchema {
  return { ...objectOf(maskTexts(words, mask)), ...(bytes === undefined ? {} : { [name]: bytes }) };
}

type Heard = Pick<ExecutorCall, 'onProgress' | 'onLog'> & { readonly onQuestion: AskedByServer };

export function maskHeard<Listener extends Heard>(listener: Listener, mask: Mask): Listener {
  const { onProgress, onLog, onQuestion } = listener;
  return {
    ...listener,
    onProgress:
      onProgress &&
      (({ message, ...rest }) => onProgress(message === undefined ? rest : { ...rest, message: mask(message) })),
    onLog: onLog && (({ level, ...rest }) => onLog({ data: undefined, ...objectOf(maskTexts(rest, mask)), level })),
    onQuestion: (asked, signal) => onQuestion(maskTexts(asked, mask), signal),
  };
}
