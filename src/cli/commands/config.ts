/** `winnow config`: lists the keys of the configuration file, and checks and shows the effective values without secrets. */
import type { Command } from 'commander';
import { command, group, toggle } from '../command.js';
import { JSON_OUTPUT, PLANNING, STORE } from '../flags.js';
import { colours, print } from '../output.js';

const FLAGS = { ...PLANNING, ...STORE, ...JSON_OUTPUT };

/** The parts of a JSON Schema that are shown. */
interface Shape {
  description?: string;
  default?: unknown;
  type?: string;
  enum?: readonly unknown[];
  properties?: Record<string, Shape>;
  items?: Shape;
  anyOf?: readonly Shape[];
}

interface OptionRow {
  key: string;
  type: string;
  /** As JSON. Undefined: there is none, or the description names it. */
  default: unknown;
  description: string;
}

export function configCommand(): Command {
  return group('config', 'the configuration file: its keys, and what holds', 'winnow config print', [
    keysCommand(),
    command({
      name: 'print',
      about: 'checks and shows what holds: flags over environment over file over defaults, as YAML; secrets are masked',
      flags: FLAGS,
      examples: ['winnow config print -c winnow.yaml', 'winnow config print --store agents.db --json'],
      async run(_, flags) {
        const { readEffective } = await import('../effective-config.js');
        const { stringify } = await import('yaml');
        const { config } = await readEffective(flags);
        print(flags, { value: config, text: stringify(config, { lineWidth: 0 }).trimEnd() });
      },
    }),
  ]);
}

function keysCommand(): Command {
  return command({
    name: 'keys',
    words: '[word]',
    about: 'all keys with type, default and unit; a word shows those that have it',
    flags: { json: toggle('--json', 'print the JSON Schema of the file, for editors') },
    examples: ['winnow config keys', 'winnow config keys sandbox', 'winnow config keys --json > winnow.schema.json'],
    async run([word = ''], flags) {
      const { configJsonSchema } = await import('../config-file.js');
      const schema = await configJsonSchema();
      const rows = rowsOf(schema as Shape).filter((row) => JSON.stringify(row).includes(word));
      const text = rows.map(renderRow).join('\n') || `no key has "${word}"`;
      print(flags, { value: schema, text });
    },
  });
}

/** A row for each key of a group; a key without a description has that of its group. */
function rowsOf({ properties = {}, description: ofGroup = '' }: Shape, before = ''): OptionRow[] {
  return Object.entries(properties).flatMap(([name, shape]) => {
    const key = `${before}${name}`;
    const { description = ofGroup, default: byDefault, items } = shape;
    if (shape.properties) return rowsOf({ ...shape, description }, `${key}.`);
    if (items?.properties) return rowsOf({ ...items, description }, `${key}[].`);
    return [{ key, type: typeOf(shape), default: byDefault, description }];
  });
}

function typeOf({ type, enum: values, anyOf = [], items }: Shape): string {
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (anyOf.length > 0) return anyOf.map(typeOf).join(' | ');
  return type === 'array' && items ? `${typeOf(items)}[]` : (type ?? 'any');
}

function renderRow({ key, type, default: byDefault, description }: OptionRow): string {
  const known = byDefault === undefined ? '' : ` = ${JSON.stringify(byDefault)}`;
  return `${colours.bold(key)}${known}  ${colours.dim(type)}\n    ${description}`;
}
