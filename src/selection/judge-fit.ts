/**
 * Whether tools that were not chosen fit a request at all, as a probability: where selection is skipped nothing else asks
 * that, and a small model that is shown one tool calls it, whatever the request. A judgement that fails changes nothing.
 */
import { isObject } from '../catalog/schema/json.js';
import { oneLine } from '../catalog/summary.js';
import type { Tool } from '../catalog/tool.js';
import { toWinnowError } from '../errors.js';
import { addUsage, type CallAbout, type TokenReader } from '../model/model.js';
import { spentUsage } from '../model/structured.js';
import { answerWay, type SelectionCall, type SelectionParts } from './selection-call.js';
import { renderContext } from './user-part.js';

const OPENING = '{"fits": "';

/** Of more the 1.5B model does not know whether they fit, and reading them takes seconds. */
export const MAX_JUDGED = 4;

/** @returns between 0 and 1; undefined where the model is not asked for probabilities, or the reading failed. */
export async function judgeFit(
  tools: readonly Tool[],
  call: SelectionCall,
  parts: SelectionParts,
): Promise<number | undefined> {
  const { model, fit, options } = parts;
  if (answerWay(parts) !== 'rank' || !model.openReader) return undefined;
  const { request, facts, usage, trace } = call;
  const timeout = AbortSignal.timeout(options.selectionTimeoutMs);
  const signal = call.signal ? AbortSignal.any([call.signal, timeout]) : timeout;
  const values = {
    tools: tools.map(renderLine).join('\n'),
    context: renderContext(request, options),
    message: oneLine(request.message),
  };
  const about: CallAbout = {
    module: 'selection/judge-fit',
    promptName: fit.name,
    promptHash: fit.hash,
    variables: { ...values, tools: tools.map(({ name }) => name) },
    ...facts,
  };
  try {
    const reader = await model.openReader({ prompt: fit.render(values), opening: OPENING, signal, about });
    let fits: number | undefined;
    try {
      fits = await readYes(reader);
      return fits;
    } finally {
      addUsage(usage, reader.usage());
      await reader.close({ fits });
    }
  } catch (error) {
    addUsage(usage, spentUsage(error));
    const failure = toWinnowError(error);
    if (failure.code === 'cancelled' && call.signal?.aborted) throw failure;
    trace.add('selection', `whether the tools fit was not judged: ${failure.message}`);
    return undefined;
  }
}

async function readYes(reader: TokenReader): Promise<number> {
  const [yes, no] = ['yes', 'no'].map((word) => reader.tokenize(word)[0]);
  if (yes === undefined || no === undefined) return 1;
  const [forYes = 0, forNo = 0] = await reader.weigh([], [yes, no]);
  return 1 / (1 + Math.exp(forNo - forYes));
}

/** The names of the arguments tell a small model more of what a tool can't do than its description. */
function renderLine({ name, description, inputSchema }: Tool): string {
  const names = isObject(inputSchema.properties) ? Object.keys(inputSchema.properties) : [];
  return `- ${name}(${names.join(', ')}): ${oneLine(description)}`;
}
