/** Files of one JSON object a line, read line by line. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { WinnowError } from '../core/errors.js';

export interface Line {
  readonly text: string;
  /** From 1. */
  readonly line: number;
}

/** Lines that are not empty. @throws WinnowError `not_found` when the file can't be read. */
export async function* linesOf(file: string): AsyncGenerator<Line> {
  const stream = createReadStream(file, 'utf8');
  // Without a listener of its own an error of the stream would end the process before the loop sees it.
  const failure = new Promise<Error>((resolve) => stream.once('error', resolve));
  const isOpen = await Promise.race([
    failure.then(() => false),
    new Promise<boolean>((resolve) => stream.once('open', () => resolve(true))),
  ]);
  if (!isOpen) throw new WinnowError('not_found', `The file ${file} can't be read.`, { cause: await failure });
  const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
  let line = 0;
  try {
    for await (const text of lines) {
      line += 1;
      if (text.trim() !== '') yield { text, line };
    }
  } finally {
    lines.close();
    stream.destroy();
  }
}
