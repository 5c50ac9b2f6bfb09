/**
 * The page around the data: one document of the files in `page/`, its scripts joined into one. Its policy lets only
 * this style and this script in, by their hashes, and no address at all.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { WinnowError } from '../../core/errors.js';

/** The same folder seen from `src` and from `dist`. */
const FOLDER = new URL('./page/', import.meta.url);

const STYLES = ['base', 'controls', 'summary', 'filters', 'charts', 'list', 'case', 'tools', 'plan', 'calls', 'print'];
const FIRST_SCRIPT = 'main';

export interface PageParts {
  /** All before the data. */
  readonly head: string;
  /** All after them, with the script. */
  readonly tail: string;
}

/** @throws WinnowError `internal` when a file of the page is missing or of a form that cannot be joined. */
export async function readPageParts({ title }: { title: string }): Promise<PageParts> {
  const [template, script, styles] = await Promise.all([
    readPart('page.html'),
    joinScripts(FIRST_SCRIPT),
    Promise.all(STYLES.map((name) => readPart(`${name}.css`))),
  ]);
  const style = styles.join('\n');
  const policy = `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; img-src data:; base-uri 'none'; form-action 'none'`;
  const [beforeHead, beforeData, beforeScript, end] = template.split(/<!-- (?:head|data|script) -->\n/u);
  if (end === undefined)
    throw broken('page.html lacks one of the lines "<!-- head -->", "<!-- data -->", "<!-- script -->"');
  return {
    head: `${beforeHead}<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
${beforeData}`,
    tail: `${beforeScript}<script type="module">${script}</script>\n${end}`,
  };
}

const IMPORT = /^import (\{[^}]*\}) from '\.\/([\w-]+)\.js';$/gmu;
const EXPORT = /^export (?:async )?(?:function|const) (\w+)/gmu;

/**
 * A page opened from disk cannot import files, so its modules become one script: each once and in its own scope,
 * after those it needs, and what it exports is the value of that scope.
 */
async function joinScripts(first: string): Promise<string> {
  const joined = new Map<string, string>();
  const visit = async (name: string, way: readonly string[]): Promise<void> => {
    if (way.includes(name)) throw broken(`its scripts import each other in a circle: ${[...way, name].join(', ')}`);
    if (joined.has(name)) return;
    const text = await readPart(`${name}.js`);
    for (const [, , needed = ''] of text.matchAll(IMPORT)) await visit(needed, [...way, name]);
    joined.set(name, toScope(name, text));
  };
  await visit(first, []);
  const script = [...joined.values()].join('\n');
  const odd = /^\s*(?:import|export)\b.*$/mu.exec(script)?.[0] ?? /<\/script|<!--/iu.exec(script)?.[0];
  if (odd !== undefined) throw broken(`"${odd}" cannot be joined into one script`);
  return script;
}

function toScope(name: string, text: string): string {
  const exported = [...text.matchAll(EXPORT)].map(([, found]) => found);
  const body = text
    .replace(IMPORT, (_, names: string, needed: string) => `const ${names} = ${scopeName(needed)};`)
    .replace(EXPORT, (found) => found.slice('export '.length));
  return `const ${scopeName(name)} = (() => {\n${body}\nreturn { ${exported.join(', ')} };\n})();`;
}

function scopeName(name: string): string {
  return `scope_${name.replaceAll('-', '_')}`;
}

async function readPart(name: string): Promise<string> {
  try {
    return await readFile(new URL(name, FOLDER), 'utf8');
  } catch (cause) {
    throw new WinnowError('internal', `The report's page lacks its file ${name}: install the package again.`, {
      cause,
    });
  }
}

/** Without a `<` in any text no text ends the element; `JSON.parse` reads the same value. */
export function embedJson(id: string, value: unknown): string {
  return `<script type="application/json" id="${id}">${JSON.stringify(value).replaceAll('<', '\\u003c')}</script>\n`;
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/gu, (sign) => ENTITIES[sign] ?? sign);
}

function broken(message: string): WinnowError {
  return new WinnowError('internal', `The report's page is broken: ${message}.`);
}
