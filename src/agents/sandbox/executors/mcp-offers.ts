/**
 * Answers of MCP servers to requests for what they offer besides tools. The transport keeps them from the checks of the SDK,
 * and they are read here: bounded, one item after the other, up to the first fault.
 */
import { SdkError, SdkErrorCode, specTypeSchemas } from '@modelcontextprotocol/client';
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
