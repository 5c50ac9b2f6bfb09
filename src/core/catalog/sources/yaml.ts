/**
 * YAML of strangers and of requests, bounded where the library is not. It calls itself for each level, and a stack that ends in
 * a regular expression ends the process, so that no `catch` helps. Its own search for doubled keys takes 10 s for 20,000 keys.
 */
import type { Document } from 'yaml';
import { isObject, type JsonSchema } from '../schema/json.js';

/** Documents that people write have some 30. */
const MOST_LEVELS = 256;

/** @throws Error with line and column, also for a doubled key; Error for more than 256 levels, and for too many aliases */
export async function parseYaml(text: string): Promise<unknown> {
  // Loaded on demand, since most catalogues are JSON.
  const { Composer, isScalar, Lexer, LineCounter, parseDocument, Parser, visit } = await import('yaml');
  const lineCounter = new LineCounter();
  lineCounter.addNewLine(0);
  const parser = new Parser(lineCounter.addNewLine);
  const tokens = [];
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme));
    if (parser.stack.length > MOST_LEVELS) throw new Error(`It is nested more than ${MOST_LEVELS} levels deep`);
  }
  tokens.push(...parser.end());
  const options = { uniqueKeys: false };
  const documents = [...new Composer(options).compose(tokens, true, text.length)];
  const document: Document | undefined = documents[0];
  if (!document || documents.length > 1 || document.errors.length > 0) {
    // This one says where in the text the error is.
    throw parseDocument(text, options).errors[0];
  }
  let hasMerges = false;
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        hasMerges ||= key.value === MERGE;
        const { line, col } = lineCounter.linePos(key.range?.[0] ?? 0);
        if (seen.has(key.value)) throw new Error(`Map keys must be unique at line ${line}, column ${col}`);
        seen.add(key.value);
      }
    },
  });
  const content: unknown = document.toJS();
  return hasMerges ? withMerged(content, new Map()) : content;
}

/** Key of the maps whose keys a map takes over: `<<: *base`, or a list of which the first counts. */
const MERGE = '<<';

/**
 * The library would convert a merged map again at each place, which a few nested ones make endless. Here aliases share
 * one value, and its bound of aliases holds.
 * @param known what aliases repeat; undefined while it is made. @throws Error for a merged value that is no map
 */
function withMerged(value: unknown, known: Map<unknown, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (known.has(value)) {
    const before = known.get(value);
    if (before === undefined) throw new Error('An alias stands in the map or list that it names');
    return before;
  }
  known.set(value, undefined);
  const result = Array.isArray(value) ? value.map((item) => withMerged(item, known)) : mergedMap(value, known);
  known.set(value, result);
  return result;
}

function mergedMap(map: object, known: Map<unknown, unknown>): JsonSchema {
  const items = Object.entries(map).map(([key, value]) => [key, withMerged(value, known)] as const);
  const sources = items.flatMap(([key, value]) => (key === MERGE ? [value].flat() : []));
  if (!sources.every(isObject)) throw new Error(`The merge key ${MERGE} takes a map, or a list of maps`);
  const taken = sources.toReversed().flatMap((source) => Object.entries(source));
  return Object.fromEntries([...taken, ...items.filter(([key]) => key !== MERGE)]);
}
