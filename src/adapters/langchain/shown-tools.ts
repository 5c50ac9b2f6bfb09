/** The tools of a session as a model sees them: under names and with schemas that providers take. */
import { Runnable } from '@langchain/core/runnables';
import { type ClientTool, DynamicStructuredTool, type ServerTool } from '@langchain/core/tools';
import { clientName } from '../../agents/client-name.js';
import type { ListedTool } from '../../agents/contracts.js';
import { normaliseArguments } from '../../core/catalog/schema/normalise.js';
import type { JsonSchema } from '../../core/catalog/tool.js';
import { WinnowError } from '../../core/errors.js';
import { META_NAMES } from './meta-tools.js';

export type BoundTool = ClientTool | ServerTool;

const META: ReadonlySet<string> = new Set(META_NAMES);
const fitted = new WeakMap<JsonSchema, JsonSchema>();

/** Only to be shown: whatever the model calls comes back through the gate, which judges the arguments, too. */
export function toShownTool({ name, description, inputSchema }: ListedTool): DynamicStructuredTool {
  const schema = fitted.get(inputSchema) ?? normaliseArguments(inputSchema).schema;
  fitted.set(inputSchema, schema);
  const func = () => Promise.reject(new WinnowError('internal', `${name} was run beside the gate.`));
  return new DynamicStructuredTool({ name: shownName(name), description, schema, func });
}

/** Where a provider would not take the tool's own name, one that it takes. */
export function shownName(name: string): string {
  return clientName(name, META);
}

/** @returns the name of the tool in the catalogue. Names that no enabled tool is shown under stay as they are. */
export function ownName(shown: string, listed: readonly Pick<ListedTool, 'name'>[]): string {
  return listed.find(({ name }) => shownName(name) === shown)?.name ?? shown;
}

/** Tools of the provider are only data: LangChain hands them on as they are. */
export function isOwnTool(tool: BoundTool): tool is ClientTool & { name: string } {
  return Runnable.isRunnable(tool) && typeof tool.name === 'string';
}
