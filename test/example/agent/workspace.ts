/** A small project in a folder of its own, and functions that run tools of the coding-agent catalogue on it. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { ToolFunction } from '../../../src/agents/index.js';

const FILES: Readonly<Record<string, string>> = {
  'package.json': '{ "name": "web-shop", "type": "module" }\n',
  'src/cart.js': "import { priceOf } from './price.js';\n\nexport const total = (items) => items.map(priceOf);\n",
  'src/price.js': 'export const priceOf = (item) => item.price * (1 + item.tax);\n',
  'src/price-2019.js':
    '// OBSOLETE: nobody imports this file any more.\nexport const priceOf = (item) => item.price * 1.19;\n',
};

export interface Workspace {
  readonly functions: Readonly<Record<string, ToolFunction>>;
  /** Paths of the files that are there, in order. */
  files(): Promise<string[]>;
  remove(): Promise<void>;
}

export async function createWorkspace(): Promise<Workspace> {
  const root = await mkdtemp(join(tmpdir(), 'winnow-agent-'));
  for (const [path, text] of Object.entries(FILES)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const files = async (): Promise<string[]> => {
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    const found = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    return found.map((path) => relative(root, path).split(sep).join('/')).sort();
  };
  /** Nothing outside of the project can be reached. */
  const at = (path: unknown): string => {
    const absolute = resolve(root, String(path));
    if (!absolute.startsWith(root + sep)) throw new Error(`${path} is not in the workspace`);
    return absolute;
  };
  const functions: Record<string, ToolFunction> = {
    ask_user: async () => ({ answer: 'Yes. Go on, and do what I asked for.' }),
    list_directory: async () => ({ entries: (await files()).map((path) => ({ path, kind: 'file' })) }),
    async file_read({ path }) {
      const content = await readFile(at(path), 'utf8');
      return { content, total_lines: content.split('\n').length - 1 };
    },
    async file_search({ glob }) {
      const form = new RegExp(`^${String(glob).split('*').map(asLiteral).join('.*')}$`, 'u');
      const paths = (await files()).filter((path) => form.test(path));
      return { path: paths[0] ?? '', paths, total: paths.length };
    },
    async text_search({ pattern }) {
      const matches = [];
      for (const path of await files()) {
        const lines = (await readFile(at(path), 'utf8')).split('\n');
        const found = lines.findIndex((line) => line.toLowerCase().includes(String(pattern).toLowerCase()));
        if (found >= 0) matches.push({ path, line: found + 1, text: lines[found] });
      }
      const [first] = matches;
      return { ...(first ? { path: first.path, line: first.line } : {}), matches, total: matches.length };
    },
    async file_delete({ path }) {
      await rm(at(path));
      return { deleted: true };
    },
  };
  return { functions, files, remove: () => rm(root, { recursive: true, force: true }) };
}

function asLiteral(text: string): string {
  return text.replace(/[$()*+.?[\\\]^{|}]/gu, '\\$&');
}
