/**
 * Lines of JSON as the page holds them: gzip in base64 within a script element that no browser runs. Base64 has no
 * `<`, so no text of a case can end the element.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

export type BlockKind = 'cases' | 'prompts' | 'index';

/** What opening one case reads: a few milliseconds in the browser, yet large enough for gzip to pay. */
const BLOCK_CHARACTERS = 256 * 1024;

export interface LinePacker {
  /** Where the line will be found: block of this kind, line in it. */
  add(value: unknown): [number, number];
  readonly isFull: boolean;
  /** The lines since the last call as an element of the page; empty where there are none. */
  take(): Promise<string>;
}

export function createLinePacker(kind: BlockKind): LinePacker {
  let block = 0;
  let lines: string[] = [];
  let characters = 0;
  return {
    add(value) {
      const line = JSON.stringify(value);
      characters += line.length;
      return [block, lines.push(line) - 1];
    },
    get isFull() {
      return characters >= BLOCK_CHARACTERS;
    },
    async take() {
      if (lines.length === 0) return '';
      const text = lines.join('\n');
      block += 1;
      lines = [];
      characters = 0;
      return packBlock(kind, text);
    },
  };
}

const compress = promisify(gzip);

async function packBlock(kind: BlockKind, text: string): Promise<string> {
  const packed = await compress(text);
  return `<script type="text/plain" data-block="${kind}">${packed.toString('base64')}</script>\n`;
}
