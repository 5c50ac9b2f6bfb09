/** `winnow completion`: completion scripts made from the commands. File names complete where nothing else fits. */
import { Argument, type Command } from 'commander';
import { command } from '../command.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export function completionCommand(programOf: () => Command): Command {
  const made = command({
    name: 'completion',
    about: 'print what makes a shell complete commands and flags',
    flags: {},
    examples: [
      'source <(winnow completion bash)',
      'winnow completion zsh > ~/.zfunc/_winnow',
      'winnow completion fish > ~/.config/fish/completions/winnow.fish',
    ],
    async run([shell]) {
      const places = placesOf(programOf());
      const render = { bash: renderBash, zsh: renderZsh, fish: renderFish }[shell as (typeof SHELLS)[number]];
      process.stdout.write(render(places));
    },
  });
  return made.addArgument(new Argument('<shell>', 'your shell').choices(SHELLS));
}

interface Place {
  /** `tools list`; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly Command[];
  readonly flags: Command['options'];
  /** Possible arguments. */
  readonly words: readonly string[];
}

function placesOf(one: Command, path = ''): Place[] {
  const words = one.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  const here: Place = { path, commands: one.commands, flags: one.options, words };
  return [here, ...one.commands.flatMap((below) => placesOf(below, `${path} ${below.name()}`.trim()))];
}

/** The script finds the command from the words before the cursor. */
function renderBash(places: readonly Place[]): string {
  const paths = places.map(({ path }) => `' ${path} '`).join('|');
  const words = places.map(({ path, commands, flags, words: known }) => {
    const typed = [...commands.map((one) => one.name()), ...known, ...flags.map(({ long }) => long ?? ''), '--help'];
    return `    '${path}') words='${typed.join(' ')}' ;;`;
  });
  const choices = new Map(places.flatMap(({ flags }) => flags.map(({ long, argChoices }) => [long, argChoices])));
  const values = [...choices].flatMap(([long, known]) => (known ? [`    ${long}) words='${known.join(' ')}' ;;`] : []));
  return `_winnow() {
  local path='' words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case " \${path:+$path }$word " in ${paths}) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${words.join('\n')}
  esac
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
${values.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o bashdefault -o default -F _winnow winnow
`;
}

function renderZsh(places: readonly Place[]): string {
  return `#compdef winnow\nautoload -U +X bashcompinit && bashcompinit\n${renderBash(places)}`;
}

function renderFish(places: readonly Place[]): string {
  const quoted = (words: string) => `'${words.replace(/['\\]/gu, String.raw`\$&`)}'`;
  const lines = places.flatMap(({ path, commands, flags, words }) => {
    const names = path === '' ? [] : path.split(' ');
    const below = commands.map((one) => one.name()).join(' ');
    const seen = names.map((name) => `__fish_seen_subcommand_from ${name}`);
    const first = names.length === 0 ? ['__fish_use_subcommand'] : seen;
    const unseen = below === '' || names.length === 0 ? [] : [`not __fish_seen_subcommand_from ${below}`];
    const when = `complete -c winnow -n ${quoted([...first, ...unseen].join('; and '))}`;
    return [
      ...words.map((word) => `${when} -f -a ${word}`),
      ...commands.map((one) => `${when} -f -a ${one.name()} -d ${quoted(one.description())}`),
      ...flags.map(({ long, short, required, argChoices, description }) => {
        const letter = short ? ` -s ${short.slice(1)}` : '';
        const takes = required ? ' -r' : '';
        const values = argChoices ? ` -f -a ${quoted(argChoices.join(' '))}` : '';
        return `${when} -l ${long?.slice(2)}${letter}${takes}${values} -d ${quoted(description)}`;
      }),
    ];
  });
  return `${lines.join('\n')}\n`;
}
