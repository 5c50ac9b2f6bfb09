/**
 * The console: a web page that shows what Winnow does and lets people decide. It uses the HTTP API like any other program,
 * so it has no logic and no rights of its own.
 */
import { basename } from 'node:path';
import { LIBRARIES, readLibrary, readPageFile } from '../../page/page-files.js';
import type { PageFile } from '../http/page-routes.js';

const OWN = 'adapters/console/page';
const PAGES = ['try', 'runs', 'approvals', 'tools', 'state', 'policy', 'evaluations', 'reports'];
const SCRIPTS = [
  'app',
  'api',
  'words',
  'shell',
  'stages',
  'result',
  'arguments',
  'form',
  'call',
  'case-line',
  ...PAGES,
];
/** The parts of the report of `winnow eval`. */
const REPORT = ['report.css', ...['data', 'prompts', 'case', 'summary', 'report'].map((name) => `${name}.js`)];
const FILES = [
  ...['page/base.css', 'page/format.js', 'page/graph.js', `${OWN}/style.css`],
  ...REPORT.map((name) => `eval/report/page/${name}`),
  ...['words.en.json', 'words.zh.json', ...SCRIPTS.map((name) => `${name}.js`)].map((name) => `${OWN}/${name}`),
];

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
};

/** Reads all files once. @throws WinnowError `internal` if one is missing. */
export async function readConsole(): Promise<PageFile[]> {
  const [text, doorstep] = await Promise.all(['page', 'doorstep'].map((name) => readPageFile(`${OWN}/${name}.html`)));
  const page = { path: '/', type: 'text/html; charset=utf-8', text: `${text}`, doorstep: `${doorstep}` };
  const files = FILES.map(async (path) => toFile(basename(path), await readPageFile(path)));
  const libraries = Object.entries(LIBRARIES).map(async ([name, library]) => {
    const text = await readLibrary(name as keyof typeof LIBRARIES);
    const exported = 'value' in library ? `\nexport const { ${library.names.join(', ')} } = ${library.value};` : '';
    return toFile(servedName(name), text + exported);
  });
  return [page, ...(await Promise.all([...files, ...libraries]))];
}

/** Serves all from one folder: a browser knows neither packages nor the folders of `src`. */
function toFile(name: string, text: string): PageFile {
  const type = TYPES[name.split('.').at(-1) ?? ''] ?? 'text/plain';
  const served = text.replace(IMPORT, (_, before: string, from: string) => `${before}'./${servedName(from)}'`);
  return { path: `/console/${name}`, type, text: name.endsWith('.js') ? served : text };
}

const IMPORT = /^((?:import|export|\})[^'"\n]*\bfrom )'([^'\n]+)'/gmu;

function servedName(from: string): string {
  return `${basename(from, '.js')}.js`;
}
