/**
 * The size of the house: lines, files, exported names, options, flags, metrics, functions, and the arrows between rooms.
 *
 *   npm run build && node test/bench/house.mjs
 *
 * A room is a folder under a zone; an arrow is a pair of rooms of which one imports from the other. A function is measured
 * from its first to its last line.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseSync } from '@swc/core';
import { configJsonSchema } from '../../dist/cli/config-file.js';
import { createProgram } from '../../dist/cli/program.js';
import { METRICS } from '../../dist/eval/metrics.js';
import { median, renderTable } from './statistics.mjs';

const ENTRIES = [
  'index.ts',
  'agents/index.ts',
  'eval/index.ts',
  'adapters/langchain/index.ts',
  'adapters/mcp/index.ts',
];

function filesIn(folder, endings) {
  const names = readdirSync(folder, { recursive: true }).map((name) => join(folder, name));
  return names.filter((name) => endings.some((ending) => name.endsWith(ending))).sort();
}

const linesOf = (file) => readFileSync(file, 'utf8').split('\n').length - 1;
const size = (files) => `${files.reduce((sum, file) => sum + linesOf(file), 0)} in ${files.length}`;

const sources = filesIn('src', ['.ts']).filter((file) => !file.endsWith('.d.ts'));
const modules = new Map(sources.map((file) => [file, parse(file)]));

/** Positions are bytes behind those of all that was parsed before. */
function parse(file) {
  const text = readFileSync(file);
  const { end } = parseSync('', { syntax: 'typescript' }).span;
  const module = parseSync(text.toString(), { syntax: 'typescript' });
  return {
    ...module,
    linesOf: ({ start, end: last }) =>
      text
        .subarray(start - end, last - end)
        .toString()
        .split('\n').length,
  };
}

/** Names that the entries of the package export. */
function exportedNames() {
  const names = ENTRIES.flatMap((entry) => modules.get(join('src', entry)).body.flatMap(namesOf));
  return names.length;
}

function namesOf({ type, specifiers = [] }) {
  if (type === 'ExportAllDeclaration') throw new Error('An entry exports names by name.');
  return type.startsWith('Export') ? (specifiers.length > 0 ? specifiers : [type]) : [];
}

const FUNCTIONS = [
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'ClassMethod',
  'MethodProperty',
];

function functionLines() {
  const lengths = [];
  const visit = (node, module) => {
    if (typeof node !== 'object' || node === null) return;
    if (FUNCTIONS.includes(node.type)) lengths.push(module.linesOf(node.span ?? node.function.span));
    for (const child of Object.values(node)) visit(child, module);
  };
  for (const module of modules.values()) visit(module.body, module);
  return lengths;
}

const roomOf = (file) => relative('src', file).split('/').slice(0, -1).slice(0, 2).join('/') || 'index.ts';

function arrows() {
  const found = new Set();
  for (const [file, { body }] of modules)
    for (const { source } of body) {
      if (!source?.value.startsWith('.')) continue;
      const [one, other] = [roomOf(file), roomOf(join(dirname(file), source.value))];
      if (one !== other) found.add(`${one} -> ${other}`);
    }
  return found.size;
}

/** Leaves of a JSON Schema: keys that a user may set. */
function keysOf(schema, root = schema) {
  const whole = schema.$ref
    ? root.$defs[schema.$ref.split('/').at(-1)]
    : (schema.anyOf?.find(({ properties }) => properties) ?? schema);
  const properties = Object.values(whole.properties ?? {});
  return properties.length === 0 ? 1 : properties.reduce((sum, inner) => sum + keysOf(inner, root), 0);
}

/** `winnow eval` does something itself, besides the commands below it. */
const commandsOf = (command) => [
  ...(command.commands.length === 0 || command.options.length > 0 ? [command] : []),
  ...command.commands.flatMap(commandsOf),
];
const commands = createProgram().commands.flatMap(commandsOf);
const flags = commands.flatMap((command) => command.options.map(({ long }) => long));
const lengths = functionLines();
const { dependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

console.log(
  renderTable(
    ['what', 'figure'],
    [
      ['lines of TypeScript in files of src', size(sources)],
      ['the same with pages (js, css, html)', size(filesIn('src', ['.ts', '.js', '.css', '.html']))],
      ['src/core', size(sources.filter((file) => file.startsWith('src/core/')))],
      ['tests', size(filesIn('test', ['.ts', '.mjs']))],
      ['exported names of the package', exportedNames()],
      ['keys of the configuration', keysOf(await configJsonSchema())],
      ['commands', commands.length],
      ['flags, distinct and in places', `${new Set(flags).size}, ${flags.length}`],
      ['metrics', METRICS.size],
      [
        'dependencies at run time, optional ones',
        `${Object.keys(dependencies).length}, ${Object.keys(optionalDependencies).length}`,
      ],
      ['lines of a function: middle, longest', `${median(lengths)}, ${Math.max(...lengths)}`],
      ['arrows between rooms', arrows()],
    ],
  ),
);
