/**
 * YAML of strangers and of requests, bounded where the library is not. It calls itself for each level, and a stack that ends in
 * a regular expression ends the process, so that no `catch` helps. Its own search for doubled keys takes 10 s for 20,000 keys.
 */
import type { Document } from 'yaml';

/** Documents that people write have some 30. */
const MOST_LEVELS = 256;

/** @throws Error with line and column, also for a doubled key; Error for more than 256 levels */
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
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const { line, col } = lineCounter.linePos(key.range?.[0] ?? 0);
        if (seen.has(key.value)) throw new Error(`Map keys must be unique at line ${line}, column ${col}`);
        seen.add(key.value);
      }
    },
  });
  return document.toJS();
}
