/**
 * The name under which a client sees a tool. Model APIs take 1 to 64 letters, digits, _ and -; one name that does not
 * fit makes many clients drop the whole list.
 */
import { createHash } from 'node:crypto';

const FITTING = /^[\w-]{1,64}$/;
/** A name that ends as if it had a digest gets one of its own, or a tool could take the shown name of another. */
const LIKE_DIGESTED = /_[0-9a-f]{8}$/;
const MAX_WORDS = 55;

/**
 * The tool's own name where it fits, and is taken neither by one of Winnow's own tools nor by the form of a digested name; else as much of it as fits and a
 * digest of the whole, so that two tools never meet under one name and a tool always has the same.
 */
export function clientName(name: string, taken: ReadonlySet<string>): string {
  if (FITTING.test(name) && !LIKE_DIGESTED.test(name) && !taken.has(name)) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
  const words = name.replace(/[^A-Za-z0-9-]+/g, '_').slice(0, MAX_WORDS);
  return `${words.replace(/^_+|_+$/g, '') || 'tool'}_${digest}`;
}
