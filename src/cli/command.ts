/** A command and its flags as data. Only this file turns them into commander's options and help, so each flag is declared once. */
import { Command, Option } from 'commander';

interface AnyFlag {
  /** For example `--base-url <url>`. */
  readonly form: string;
  readonly about: string;
  readonly choices?: readonly string[];
  /** Parses the text; `earlier` is the flag's value so far. Throws InvalidArgumentError. Default: the text itself. */
  readonly read?: (text: string, earlier: never) => unknown;
  readonly byDefault?: unknown;
  /** The default as help shows it, where that differs. */
  readonly shownDefault?: string;
  readonly isRequired?: boolean;
}

/** `Value` holds undefined where the flag may be missing. */
export interface Flag<Value> extends AnyFlag {
  /** Never set: carries the type. */
  readonly value?: Value;
}

/** By commander's name for the value: `baseUrl` for `--base-url`, `cache` for `--no-cache`. */
export type FlagTable = Readonly<Record<string, AnyFlag>>;
type ValueOf<One> = One extends Flag<infer Value> ? Value : never;
type NamesOf<Table, May extends boolean> = {
  [Name in keyof Table]: undefined extends ValueOf<Table[Name]>
    ? May extends true
      ? Name
      : never
    : May extends true
      ? never
      : Name;
}[keyof Table];
/** The values of a command's flags. A flag without a default may be missing. */
export type FlagsOf<Table> = { [Name in NamesOf<Table, false>]: ValueOf<Table[Name]> } & {
  [Name in NamesOf<Table, true>]?: Exclude<ValueOf<Table[Name]>, undefined>;
};

/** The flag without its value: `--base-url` of `--base-url <url>`. */
export const typed = ({ form }: Pick<AnyFlag, 'form'>): string => form.replace(/^-\w, | <.*/gu, '');

export const text = (form: string, about: string): Flag<string | undefined> => ({ form, about });
export const toggle = (form: string, about: string): Flag<boolean | undefined> => ({ form, about });
/** On by default; the form is `--no-…`. */
export const untoggle = (form: string, about: string): Flag<boolean> => ({ form, about });
export const list = (form: string, about: string): Flag<string[] | undefined> => {
  return valued(form, `${about}; repeatable`, (value, earlier) => [...(earlier ?? []), value]);
};
export const choice = <const Choices extends readonly string[]>(
  form: string,
  about: string,
  choices: Choices,
): Flag<Choices[number] | undefined> => ({ form, about, choices });
export const valued = <Value>(
  form: string,
  about: string,
  read: (text: string, earlier: Value | undefined) => Value,
): Flag<Value | undefined> => ({ form, about, read });
export const required = <Value>(flag: Flag<Value | undefined>): Flag<Value> => ({ ...Object(flag), isRequired: true });
export const withDefault = <Value>(
  flag: Flag<Value | undefined>,
  byDefault: Value,
  shownDefault?: string,
): Flag<Value> => ({ ...Object(flag), byDefault, shownDefault });

export interface CommandSpec<Table> {
  name: string;
  /** Positional arguments, as in `show <name>`. Default: none. */
  words?: string;
  about: string;
  flags: Table;
  /** Whole command lines. */
  examples: readonly string[];
  /** Throws WinnowError, and may set `process.exitCode`; `main.ts` ends the process. */
  run(words: string[], flags: FlagsOf<Table>): Promise<void>;
}

export function command<const Table extends FlagTable>(spec: CommandSpec<Table>): Command {
  const { name, words = '', about, flags, examples, run } = spec;
  const made = new Command(name).description(about);
  if (words !== '') made.arguments(words);
  for (const flag of Object.values<AnyFlag>(flags)) made.addOption(optionOf(flag));
  made.action(() => run(made.args, made.opts()));
  return withExamples(made, examples);
}

/** Commands below one word, such as `winnow tools`. */
export function group(name: string, about: string, example: string, commands: readonly Command[]): Command {
  const made = new Command(name).description(about);
  for (const one of commands) made.addCommand(one);
  return withExamples(made, [example]);
}

export function withExamples(made: Command, examples: readonly string[]): Command {
  const title = examples.length === 1 ? 'Example:' : 'Examples:';
  return made.addHelpText('after', `\n${title}\n${examples.map((line) => `  ${line}`).join('\n')}`);
}

function optionOf({ form, about, choices, read, byDefault, shownDefault, isRequired = false }: AnyFlag): Option {
  const option = new Option(form, about).makeOptionMandatory(isRequired);
  if (choices) option.choices(choices);
  if (read) option.argParser((value, earlier) => read(value, earlier as never));
  if (byDefault !== undefined) option.default(byDefault, shownDefault);
  return option;
}
