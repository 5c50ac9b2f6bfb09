/**
 * Counts the calls where one tool does all that is asked for. With its arguments in view, the model sees that two wishes come to
 * one call, which the words of the request alone do not tell it.
 */
import { fittedSchemas } from '../../catalog/schema/normalise.js';
import type { Choice } from '../../model/choices.js';
import { renderType } from '../render-tool.js';
import type { ToolOfAsk } from './choose-tools.js';
import { createJsonWriter } from './json-writer.js';
import type { Deciding } from './read.js';

export const COUNTS: readonly Choice[] = ['1', '2', '3', '4', '5', '6', '7', '8'].map((text) => ({
  text,
  ends: 'plain',
}));

/**
 * From this probability of one call on, the asks are one. Of development requests of BFCL that the model splits for one tool, 6
 * of 6 that need one call have at least 0.4, and 1 of 4 that need several; of ACEBench 7 of 7 and 0 of 8
 * (`test/bench/plans.mjs --set bfcl-given --half learn`). It is not 0.4 since a request for two reservoirs of `first` reads 0.41
 * on one machine; the counts above were not made anew.
 */
const ONE_CALL = 0.45;

/**
 * Joins asks whose tools are one.
 *
 * @returns one ask for the whole request, with the asks that it stands for if they are several calls; else the asks
 */
export async function joinAsksOfOneTool(chosen: readonly ToolOfAsk[], parts: Deciding): Promise<readonly ToolOfAsk[]> {
  const [first, ...others] = chosen;
  if (!first?.tool || others.length === 0 || others.some(({ tool }) => tool !== first.tool)) return chosen;
  const { read, context, request, trace } = parts;
  const { input } = fittedSchemas(first.tool);
  // An ask has what the model completed from the history.
  const message = request.history?.length ? chosen.map(({ ask }) => ask).join('; ') : parts.message;
  const values = { tool: `${first.tool.name}(${renderType(input, input)})`, context, message };
  const probability = await read('count-calls', values, '{"calls": ', (open) =>
    createJsonWriter(open).probabilityOf({ text: '1', ends: 'plain' }, COUNTS),
  );
  trace.add('planning', 'one tool for all: the probability of one call', { tool: first.tool.name, probability });
  return [{ ...first, ask: message, asks: probability < ONE_CALL ? chosen.map(({ ask }) => ask) : [] }];
}
