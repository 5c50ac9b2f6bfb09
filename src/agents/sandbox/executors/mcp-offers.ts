/**
 * Answers of MCP servers to requests for what they offer besides tools. The SDK checks an answer as a whole and lists each
 * fault, which takes seconds for thousands of them. So it gets an empty one to check, and the answer is read here: bounded,
 * one item after the other, up to the first fault.
 */
import { SdkError, SdkErrorCode, specTypeSchemas, type Transport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { isObject } from '../../../core/catalog/schema/json.js';
import { EndlessList } from '../../../core/catalog/sources/mcp-connection.js';
import { countParts } from '../json-value.js';
import type { McpOffered, McpOfferRequest } from './offers.js';

type Method = McpOfferRequest['method'];
type Fields = McpOffered['result'];

/** By method: the form of the answer, the field with its items, and how many of them are read. */
const FORMS = {
  'resources/list': { schema: specTypeSchemas.ListResourcesResult, field: 'resources', most: 20_000 },
  'resources/templates/list': {
    schema: specTypeSchemas.ListResourceTemplatesResult,
    field: 'resourceTemplates',
    most: 20_000,
  },
  'resources/read': { schema: specTypeSchemas.ReadResourceResult, field: 'contents', most: 1_000 },
  'prompts/list': { schema: specTypeSchemas.ListPromptsResult, field: 'prompts', most: 20_000 },
  'prompts/get': { schema: specTypeSchemas.GetPromptResult, field: 'messages', most: 1_000 },
  'completion/complete': { schema: specTypeSchemas.CompleteResult, field: undefined, most: 0 },
} as const;
/** Of one item, and of an answer besides its items. */
const MOST_PARTS = 1_000;

/** By its fields an answer is known for one to these methods, which its message does not name. */
const NOTHING = {
  ...{ resources: [], resourceTemplates: [], contents: [], prompts: [], messages: [] },
  completion: { values: [] },
};
/** Answers to `tools/list` and `tools/call`, which the transport sets aside itself. */
const OF_TOOLS = ['tools', 'content', 'structuredContent', 'isError'];

export const setAsideSchema = z.object({ raw: z.custom<Fields>(isObject) });

/** From now on, each such answer on the connection has the form of `setAsideSchema`, and passes the checks of the SDK. */
export function setOffersAside(transport: Transport | undefined): void {
  const hear = transport?.onmessage;
  if (!hear) return;
  transport.onmessage = (message, extra) => {
    if ('result' in message && isOffer(message.result)) {
      const { resultType } = message.result;
      const empty = {
        ...NOTHING,
        ttlMs: 0,
        cacheScope: 'private',
        ...(resultType === undefined ? {} : { resultType }),
      };
      message.result = { ...empty, raw: message.result };
    }
    hear(message, extra);
  };
}

function isOffer(result: Fields): boolean {
  const has = (keys: readonly string[]) => keys.some((key) => key in result);
  return result.resultType !== 'input_required' && has(Object.keys(NOTHING)) && !has(OF_TOOLS);
}

/** @throws EndlessList for too large an answer, and SdkError for one that is not of the form of MCP */
export function readOffer(method: Method, answer: Fields): Fields {
  const { schema, field, most } = FORMS[method];
  const { resultType: _, ...whole } = answer;
  const check = (part: Fields): Fields => {
    if (countParts(part, MOST_PARTS) > MOST_PARTS)
      throw new EndlessList(`its answer has more than ${MOST_PARTS} parts`);
    const checked = schema['~standard'].validate(part);
    if (checked.issues === undefined) return { ...checked.value };
    throw new SdkError(SdkErrorCode.InvalidResult, `Invalid result for ${method}`);
  };
  const items = field && whole[field];
  if (field === undefined || !Array.isArray(items)) return check(whole);
  if (items.length > most) throw new EndlessList(`its answer has ${items.length} ${field}, more than ${most}`);
  const read = items.map((item) => Object(check({ [field]: [item] })[field])[0]);
  return { ...check({ ...whole, [field]: [] }), [field]: read };
}
