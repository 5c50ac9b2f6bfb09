/** The source files of `src` and what each imports, read as text: no compiler is needed to hold the table of imports. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

export interface SourceFile {
  /** Below `src`, for example `catalog/tool.ts`. */
  readonly path: string;
  readonly text: string;
  /** Without comments and the content of strings. */
  readonly code: string;
  /** Files of `src`, also those of which only types are used. */
  readonly imports: readonly string[];
  /** Packages, for example `@langchain/openai` or `ajv`; without Node's own. */
  readonly packages: readonly string[];
}

export function readSources(folder = 'src'): SourceFile[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'));
  return names
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((path) => toSourceFile(path, readFileSync(join(folder, path), 'utf8')));
}

export function toSourceFile(path: string, text: string): SourceFile {
  const named = importsOf(text);
  const isOwn = (name: string) => name.startsWith('.');
  const imports = named.filter(isOwn).map((name) => posix.join(posix.dirname(path), name).replace(/\.js$/u, '.ts'));
  const packages = named.filter((name) => !isOwn(name) && !name.startsWith('node:')).map(packageOf);
  return { path, text, code: codeOf(text), imports: [...new Set(imports)], packages: [...new Set(packages)] };
}

const STATEMENT = /^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/gmu;
const BARE = /^\s*import\s*['"]([^'"]+)['"]/gmu;
const INLINE = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/gu;

function importsOf(text: string): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//gu, '').replace(/^\s*\/\/.*$/gmu, '');
  return [STATEMENT, BARE, INLINE].flatMap((form) => [...code.matchAll(form)].map((match) => match[1] ?? ''));
}

function codeOf(text: string): string {
  const word = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/gu;
  return text.replace(word, (found) => (found.startsWith('/') ? ' ' : "''"));
}

function packageOf(name: string): string {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}

/** The first ways round, each as the files on it; a file that imports itself is one too. */
export function findCycles(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, way: readonly string[]): void => {
    const start = way.indexOf(path);
    if (start >= 0) cycles.push([...way.slice(start), path].join(' -> '));
    if (start >= 0 || done.has(path)) return;
    for (const next of byPath.get(path)?.imports ?? []) visit(next, [...way, path]);
    done.add(path);
  };
  for (const { path } of files) visit(path, []);
  return cycles;
}
