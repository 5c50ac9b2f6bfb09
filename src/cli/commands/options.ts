/** `winnow options`: every key of the configuration file with its default and what it does. */
import type { Command } from 'commander';
import { command, toggle } from '../command.js';
import { JSON_OUTPUT } from '../flags.js';
import { colours, print } from '../output.js';

/** What of a JSON Schema is shown. */
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
  /** As JSON. Undefined: there is none, or the description tells it. */
  default: unknown;
  description: string;
}

export function optionsCommand(): Command {
  return command({
    name: 'options',
    words: '[word]',
    about: 'all keys of the configuration file with type, default and unit; a word shows those that have it',
    flags: { ...JSON_OUTPUT, jsonSchema: toggle('--json-schema', 'the JSON Schema of the file, for editors') },
    examples: ['winnow options', 'winnow options sandbox', 'winnow options --json-schema > winnow.schema.json'],
    async run([word = ''], flags) {
      const { configJsonSchema } = await import('../config-file.js');
      const schema = await configJsonSchema();
      if (flags.jsonSchema) return print({ json: true }, { value: schema, text: '' });
      const rows = rowsOf(schema as Shape).filter((row) => JSON.stringify(row).includes(word));
      print(flags, { value: rows, text: rows.map(renderRow).join('\n') || `no option has "${word}"` });
    },
  });
}

/** A group of keys is told by its keys; one without words of its own has those of its group. */
export function rowsOf({ properties = {}, description: ofGroup = '' }: Shape, before = ''): OptionRow[] {
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
