/** The steps of a Dockerfile where no Docker is: each stage in a folder of its own, in their order, as the file has them. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Image {
  /** A path of the image, as it is from here. */
  inside(path: string): string;
  readonly workdir: string;
  readonly user: string;
  readonly env: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
}

interface Stage {
  name: string;
  root: string;
  workdir: string;
  user: string;
  env: Record<string, string>;
  lists: Record<string, string[]>;
}

/** Comments go, and lines that end with a backslash go on. */
function parseSteps(text: string): { instruction: string; rest: string }[] {
  const lines = text
    .replace(/^#.*\n/gmu, '')
    .replaceAll(/\\\n\s*/gu, '')
    .split('\n');
  return lines.flatMap((line) => {
    const [, instruction = '', rest = ''] = /^([A-Z]+)\s+(.*)$/u.exec(line) ?? [];
    return instruction === '' ? [] : [{ instruction, rest }];
  });
}

/** What `.dockerignore` lets through, which must be a list of exceptions from everything. */
async function copyContext(to: string): Promise<void> {
  const [all, ...allowed] = readFileSync('.dockerignore', 'utf8').trim().split('\n');
  if (all !== '*' || !allowed.every((line) => line.startsWith('!'))) throw new Error('.dockerignore is no such list');
  await mkdir(to, { recursive: true });
  await run('cp', ['-r', '--parents', ...allowed.map((line) => line.slice(1)), to]);
}

/** @param folder an empty one */
export async function runDockerfile(file: string, folder: string): Promise<Image> {
  const context = join(folder, 'context');
  await copyContext(context);
  const stages: Stage[] = [];
  const current = (): Stage => {
    const stage = stages.at(-1);
    if (!stage) throw new Error('A Dockerfile begins with FROM.');
    return stage;
  };
  const bin = join(folder, 'bin');
  await mkdir(bin);
  // There is no user of the image here.
  await writeFile(join(bin, 'chown'), '#!/bin/sh\n');
  await chmod(join(bin, 'chown'), 0o755);
  const shell = ({ env }: Stage, command: string, cwd: string) =>
    run('sh', ['-c', command], {
      cwd,
      env: { ...process.env, NODE_OPTIONS: '', ...env, PATH: [bin, process.env.PATH].join(delimiter) },
    });

  const STEPS: Readonly<Record<string, (rest: string) => unknown>> = {
    async FROM(rest) {
      const [, name = `${stages.length}`] = / AS (\S+)$/u.exec(rest) ?? [];
      const root = join(folder, `stage-${name}`);
      await mkdir(root);
      stages.push({ name, root, workdir: '/', user: 'root', env: {}, lists: {} });
    },
    async WORKDIR(rest) {
      current().workdir = rest;
      await mkdir(join(current().root, rest), { recursive: true });
    },
    async COPY(rest) {
      const [, from, paths = ''] = /^(?:--from=(\S+) )?(.*)$/u.exec(rest) ?? [];
      const words = paths.split(/\s+/u);
      const source = from === undefined ? context : stages.find(({ name }) => name === from)?.root;
      const to = join(current().root, current().workdir, words.at(-1) ?? '');
      await shell(
        current(),
        `cp -r ${words
          .slice(0, -1)
          .map((path) => `.${join('/', path)}`)
          .join(' ')} ${to}`,
        String(source),
      );
    },
    RUN: (rest) => shell(current(), rest.replaceAll(/--mount=\S+ /gu, ''), join(current().root, current().workdir)),
    ENV(rest) {
      for (const [, name = '', value = ''] of rest.matchAll(/(\w+)=(\S+)/gu)) current().env[name] = value;
    },
    USER(rest) {
      current().user = rest;
    },
    HEALTHCHECK: (rest) => STEPS.LIST?.(rest.replace(/^.*?CMD /u, 'HEALTHCHECK ')),
    ENTRYPOINT: (rest) => STEPS.LIST?.(`ENTRYPOINT ${rest}`),
    CMD: (rest) => STEPS.LIST?.(`CMD ${rest}`),
    LIST(rest) {
      const [, name = '', list = ''] = /^(\w+) (.*)$/u.exec(rest) ?? [];
      current().lists[name] = JSON.parse(list);
    },
    VOLUME: () => undefined,
    EXPOSE: () => undefined,
  };
  for (const { instruction, rest } of parseSteps(readFileSync(file, 'utf8'))) {
    const step = STEPS[instruction];
    if (!step) throw new Error(`No step is known for ${instruction}.`);
    await step(rest);
  }
  const { root, workdir, user, env, lists } = current();
  const inside = (path: string) => (path.startsWith('/') ? join(root, path) : path);
  const here = (words: readonly string[] = []) => words.map((word) => (existsSync(inside(word)) ? inside(word) : word));
  return {
    inside,
    ...{ workdir: inside(workdir), user },
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, inside(value)])),
    ...{ entrypoint: here(lists.ENTRYPOINT), command: lists.CMD ?? [], healthcheck: lists.HEALTHCHECK ?? [] },
  };
}
