/**
 * The page around the data: one document from the files in `page/`. Its content security policy allows only this style and
 * script, by hash, and no address.
 */
import { createHash } from 'node:crypto';
import { WinnowError } from '../../core/errors.js';
import { LIBRARIES, readLibrary, readPageFile } from '../../page/page-files.js';

/** Each script comes after its imports. */
const SCRIPTS = ['page/format', 'page/graph', ...['data', 'prompts', 'case', 'summary', 'report', 'app'].map(ofReport)];
const STYLES = ['page/base.css', ofReport('report.css')];

function ofReport(name: string): string {
  return `eval/report/page/${name}`;
}

/** The parts before and after the data. @throws WinnowError `internal` when a file of the page is missing or can't be joined */
export async function readPageParts(title: string) {
  const styles = Promise.all(STYLES.map(readPageFile));
  const read = [readPageFile(ofReport('page.html')), styles.then((all) => all.join('\n')), joinScripts()] as const;
  const [template, style, script] = await Promise.all(read);
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

/** A page opened from disk can't import files, so each module becomes a scope whose value is its exports. */
async function joinScripts(): Promise<string> {
  const libraries = Object.entries(LIBRARIES).map(async ([name, library]) => {
    const text = await readLibrary(name as keyof typeof LIBRARIES);
    return toScope(name, 'value' in library ? `${text}\nreturn ${library.value};` : text);
  });
  const own = SCRIPTS.map(async (name) => toScope(`${name}.js`, await readPageFile(`${name}.js`)));
  const script = (await Promise.all([...libraries, ...own])).join('\n');
  const odd = /^[^\S\n]*(?:import|export)\b.*$/mu.exec(script)?.[0] ?? /<\/script|<!--/iu.exec(script)?.[0];
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
      (_, names: string) => `return {${names.replace(/(?<![\w$])([\w$]+) as ([\w$]+)/gu, '$2:$1')}};`,
    );
  return `const ${scopeName(name)} = (() => {\n${body}${exported.length > 0 ? `\nreturn { ${exported.join(', ')} };` : ''}\n})();`;
}

/** Uses the file name, which is unique among the files of a page. */
const scopeName = (name: string) => `scope_${name.replace(/^.*\/(?=[^/]+\.js$)/u, '').replace(/\W/gu, '_')}`;

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function broken(message: string): WinnowError {
  return new WinnowError('internal', `The report's page is broken: ${message}.`);
}
