/** What work costs others, without a clock. */

export interface Watched<Result> {
  readonly result: Result;
  /** Turns of the event loop that others got meanwhile. */
  readonly turns: number;
  /** Characters of JSON that were parsed meanwhile. */
  readonly parsed: number;
}

export async function watchWork<Result>(work: () => Promise<Result>): Promise<Watched<Result>> {
  const { parse } = JSON;
  let turns = 0;
  let parsed = 0;
  JSON.parse = (text, ...more) => {
    parsed += String(text).length;
    return parse(text, ...more);
  };
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  try {
    return { result: await work(), turns, parsed };
  } finally {
    clearImmediate(next);
    JSON.parse = parse;
  }
}
