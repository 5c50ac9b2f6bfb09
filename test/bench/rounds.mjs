/**
 * One round of a contestant: so many requests, timed. A request that fails is counted and told, and its time counts for
 * nothing: one connection that a peer loses must not cost the hour of a measurement.
 */
import { median } from './statistics.mjs';

/** @returns the run, which says whether it went well in place of throwing, and what failed so far. */
export function countFailures(run) {
  const failures = { count: 0, first: undefined };
  const counted = async (one) => {
    try {
      await run(one);
      return true;
    } catch (error) {
      failures.count += 1;
      failures.first ??= messageOf(error);
      return false;
    }
  };
  return { run: counted, failures };
}

/** With what lies behind it: "fetch failed" alone says nothing. */
export function messageOf(error) {
  const { message = String(error), cause } = error ?? {};
  return cause ? `${message}: ${messageOf(cause)}` : message;
}

/** Of one request: median milliseconds, and the processor time that this process spends. NaN where all failed. */
export async function oneAfterTheOther(run, cases, requests) {
  const times = [];
  const before = process.cpuUsage();
  for (let place = 0; place < requests; place++) {
    const begin = performance.now();
    if (await run(cases[place % cases.length])) times.push(performance.now() - begin);
  }
  const { user, system } = process.cpuUsage(before);
  return { ms: median(times), cpuMs: times.length === 0 ? Number.NaN : (user + system) / 1000 / times.length };
}

/** Requests a second that went well when so many are under way all the time. */
export async function sideBySide(run, cases, { total, concurrency }) {
  let next = 0;
  let done = 0;
  const work = async () => {
    while (next < total) if (await run(cases[next++ % cases.length])) done += 1;
  };
  const begin = performance.now();
  await Promise.all(Array.from({ length: concurrency }, work));
  return done === 0 ? Number.NaN : done / ((performance.now() - begin) / 1000);
}
