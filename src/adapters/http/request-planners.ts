/**
 * Tools of the request: a tenant's own catalogue, used for planning and never run. Equal tools share a planner, so that a
 * model does not read them again.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Catalog, createCatalog } from '../../core/catalog/catalog.js';
import { readJsonContent } from '../../core/catalog/sources/formats.js';
import { parseInSteps } from '../../core/catalog/sources/source.js';
import { renderIssue } from '../../core/catalog/tool.js';
import { toWinnowError, WinnowError } from '../../core/errors.js';
import { runInSlices } from '../../core/in-slices.js';
import { keepLatest } from '../../core/kept.js';
import { parseInput } from '../../core/parse.js';
import type { Planner } from '../../core/planner.js';

const entriesSchema = z.array(z.record(z.string(), z.unknown())).min(1).max(2_000);
const documentSchema = z.looseObject({ tools: entriesSchema, rules: z.array(z.unknown()).max(100).optional() });

export const requestToolsSchema = z
  .union([entriesSchema, documentSchema])
  .describe(
    "Replaces the server's tools for this request: entries of a catalogue file, functions of OpenAI or Anthropic, or tools " +
      'of MCP. Either a list of them, or `{"tools": […]}` as in a catalogue file with its `rules` or in the answer of ' +
      '`tools/list`. They are used for planning and never run.',
  );

const MAX_KEPT = 16;

/** @returns a function that throws WinnowError `invalid_request` with one issue a line */
export function createRequestPlanners(plannerOf: (catalog: Catalog) => Planner): (tools: unknown) => Promise<Planner> {
  const kept = new Map<string, Promise<Planner>>();
  return async (given) => {
    // An error of the union would name no field.
    const schema = Array.isArray(given) ? entriesSchema : documentSchema;
    const { tools } = parseInput(z.object({ tools: schema }), { tools: given });
    const key = createHash('sha256').update(JSON.stringify(tools)).digest('hex');
    const planner = kept.get(key) ?? catalogOf(tools).then(plannerOf);
    keepLatest(kept, [key, planner], MAX_KEPT);
    planner.catch(() => kept.delete(key));
    return planner;
  };
}

/** Takes all of a caller's tools or none: silently skipping one would plan without it. */
async function catalogOf(content: unknown): Promise<Catalog> {
  const { tools, rules, issues } = await runInSlices(parseInSteps(readJsonContent(content, 'tools')));
  const problems = issues.filter(({ level }) => level === 'warning').map(renderIssue);
  if (problems.length > 0) throw unusable(problems);
  try {
    return createCatalog(
      tools.map(({ tool }) => tool),
      { name: 'tools', rules },
    );
  } catch (error) {
    const { issues: clashes, message } = toWinnowError(error);
    throw unusable(clashes.length > 0 ? clashes : [message]);
  }
}

function unusable(issues: readonly string[]): WinnowError {
  return new WinnowError('invalid_request', `The tools of the request are not usable: ${issues.join('; ')}.`, {
    issues,
  });
}
