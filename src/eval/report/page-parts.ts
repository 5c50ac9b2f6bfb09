/**
 * The page around the data: one document of the files in `page/`. Its policy lets only this style and this script in,
 * by their hashes, and no address at all.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { WinnowError } from '../../core/errors.js';

/** The build leaves it in `src`, which lies beside `dist`. */
export const PAGE_FOLDER = '../../../src/eval/report/page/';

/** Libraries of the page: the file for browsers beside the main file, and its value where it exports none. */
const LIBRARIES = [
  { name: 'lit-html', file: '../lit-html.js' },
  { name: '@dagrejs/dagre', file: './dagre.esm.js' },
  { name: 'diff', file: '../dist/diff.min.js', value: 'globalThis.Diff' },
];
/** Each after those that it imports. */
const SCRIPTS = ['format', 'data', 'graph', 'prompts', 'case', 'summary', 'app'];

export interface PageParts {
  /** All before the data. */
  readonly head: string;
  /** All after them, with the script. */
  readonly tail: string;
}

/** @throws WinnowError `internal` when a file of the page is missing or cannot be joined. */
export async function readPageParts({ title }: { title: string }): Promise<PageParts> {
  const [template, style, script] = await Promise.all([readPart('page.html'), readPart('page.css'), joinScripts()]);
  const policy = `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; img-src data:; base-uri 'none'; form-action 'none'`;
  const [beforeHead, beforeData, end] = template.split(/<!-- (?:head|data) -->\n/u);
  if (end === undefined) throw broken('page.html lacks one of the lines "<!-- head -->" and "<!-- data -->"');
  return {
    head: `${beforeHead}<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${title.replace(/[&<>"]/gu, (sign) => `&#${sign.charCodeAt(0)};`)}</title>
<style>${style}</style>
${beforeData}`,
    tail: `<script type="module">${script}</script>\n${end}`,
  };
}

/** A page opened from disk cannot import files: each module becomes a scope, and what it exports the value of that scope. */
async function joinScripts(): Promise<string> {
  const { resolve } = createRequire(import.meta.url);
  const libraries = LIBRARIES.map(async ({ name, file, value }) => {
    const text = await readPart(new URL(file, pathToFileURL(resolve(name))));
    return toScope(name, value ? `${text}\nreturn ${value};` : text.replace(/^\/\/# source.*$/gmu, ''));
  });
  const own = SCRIPTS.map(async (name) => toScope(`./${name}.js`, await readPart(`${name}.js`)));
  const script = (await Promise.all([...libraries, ...own])).join('\n');
  const odd = /^\s*(?:import|export)\b.*$/mu.exec(script)?.[0] ?? /<\/script|<!--/iu.exec(script)?.[0];
  if (odd !== undefined) throw broken(`"${odd.slice(0, 80)}" cannot be joined into one script`);
  return script;
}

function toScope(name: string, text: string): string {
  const exported = [...text.matchAll(/^export (?:async )?(?:function|const) (\w+)/gmu)].map(([, found]) => found);
  const body = text
    .replace(
      /^import (?:\* as )?(\w+|\{[^}]*\}) from '([^']+)';$/gmu,
      (_, names, from) => `const ${names} = ${scopeName(from)};`,
    )
    .replace(/^export (?=async |function |const )/gmu, '')
    .replace(
      /export\{([^}]*)\};?/u,
      (_, names: string) => `return {${names.replace(/([\w$]+) as ([\w$]+)/gu, '$2:$1')}};`,
    );
  return `const ${scopeName(name)} = (() => {\n${body}${exported.length > 0 ? `\nreturn { ${exported.join(', ')} };` : ''}\n})();`;
}

const scopeName = (name: string) => `scope_${name.replace(/\W/gu, '_')}`;

async function readPart(name: string | URL): Promise<string> {
  try {
    return await readFile(new URL(name, new URL(PAGE_FOLDER, import.meta.url)), 'utf8');
  } catch (cause) {
    throw new WinnowError('internal', `The report's page lacks its file ${name}: install the package again.`, {
      cause,
    });
  }
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function broken(message: string): WinnowError {
  return new WinnowError('internal', `The report's page is broken: ${message}.`);
}
