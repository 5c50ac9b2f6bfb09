/**
 * Joins asks that one call does. The words of a request alone do not tell a further wish from a detail ("namespace payments",
 * "with a readme in it", "leave the others alone"); with a tool and its arguments in view, the model does.
 */
import type { Tool } from '../../catalog/tool.js';
import { oddsOf, renderCandidate } from './check-fit.js';
import type { ToolOfAsk } from './choose-tools.js';
import { readEither } from './json-writer.js';
import type { Deciding } from './read.js';

/**
 * An ask joins an earlier one from these odds of "same call" on, times the square root of the odds that the request asks for one
 * thing: two opinions on one decision. Of 82 later asks of development requests (catalogues of fixtures and of real MCP servers,
 * BFCL, ACEBench), 27 name a detail or what is to be kept; of these 21 join, and of the 55 others 2. Below the probability
 * `read` of one thing, no ask is read.
 */
const JOINS = { odds: 0.9, read: 0.25 };

interface Joining extends Deciding {
  /** Probability that the request asks for one thing, between 0 and 1. */
  readonly one: number;
}

/**
 * Joins each ask that the call for an earlier one does to that one, and the rest if their tools are one.
 *
 * @returns the message as the only ask, with the asks that it stands for if they are several calls of its tool; else the asks
 */
export async function joinAsks(chosen: readonly ToolOfAsk[], joining: Joining): Promise<readonly ToolOfAsk[]> {
  let kept: readonly ToolOfAsk[] = [];
  for (const later of chosen) {
    const host = await findHost(later, kept, joining);
    kept = host
      ? kept.map((one) => (one.ask === host.ask ? { ...one, ask: `${one.ask}; ${later.ask}` } : one))
      : [...kept, later];
  }
  const asks = asksOf(kept);
  const isOneTool = new Set(kept.map(({ tool }) => tool)).size === 1 && kept[0]?.tool !== undefined;
  if (asks.length > 1 && !isOneTool) return kept;
  // An ask has what the model completed from the history.
  const ask = joining.request.history?.length ? asksOf(chosen).join('; ') : joining.message;
  return (isOneTool ? kept.slice(0, 1) : kept).map((one) => ({ ...one, ask, asks: asks.length > 1 ? asks : [] }));
}

export function asksOf(chosen: readonly ToolOfAsk[]): string[] {
  return [...new Set(chosen.map(({ ask }) => ask))];
}

/** The ask before it whose call does what it wants. */
async function findHost(
  { ask }: ToolOfAsk,
  earlier: readonly ToolOfAsk[],
  { one, ...deciding }: Joining,
): Promise<ToolOfAsk | undefined> {
  if (one < JOINS.read) return undefined;
  for (const host of earlier) {
    if (!host.tool || host.ask === ask) continue;
    const same = await readSame(host.tool, ask, deciding);
    if (oddsOf(same) * Math.sqrt(oddsOf(one)) < JOINS.odds) continue;
    deciding.trace.add('planning', 'one call does both', { asks: [host.ask, ask], tool: host.tool.name, same });
    return host;
  }
  return undefined;
}

function readSame(tool: Tool, ask: string, { read, context, message }: Deciding): Promise<number> {
  const opening = `{"part": ${JSON.stringify(ask)}, "done by": "`;
  return read('same-call', { tool: renderCandidate(tool), context, message }, opening, (open) =>
    readEither(open, 'same call', 'other call'),
  );
}
