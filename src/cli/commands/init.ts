/** `winnow init`: writes a commented configuration for the tool sources in the folder. It overwrites nothing. */
import type { Dirent } from 'node:fs';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { messageOf, WinnowError } from '../../core/errors.js';
import { command } from '../command.js';
import { printableLine } from '../output.js';

const FILE = 'winnow.yaml';

export function initCommand(): Command {
  return command({
    name: 'init',
    about: `write a commented ${FILE} for the tools in this folder: MCP configurations, OpenAPI, tools as JSON, skills`,
    flags: {},
    examples: ['winnow init', 'winnow init && winnow doctor'],
    async run() {
      if (existsSync(FILE)) throw refused('is there already, and stays as it is. Check it with: winnow doctor');
      const sources = await findSources();
      // Fails if another process has created the file meanwhile.
      await writeFile(FILE, renderConfig(sources), { flag: 'wx' }).catch((cause) => {
        throw refused(`can't be written: ${messageOf(cause)}`, cause);
      });
      const found = sources.map(({ path, what }) => `${printableLine(`  ${path}  ${what}`)}\n`).join('');
      const next =
        found === '' ? `Name your tools under catalog in ${FILE}, then: winnow doctor` : 'Next: winnow doctor';
      process.stdout.write(
        `${FILE} is written${found === '' ? '; no tools were found here' : ' with'}\n${found}${next}\n`,
      );
    },
  });
}

function refused(why: string, cause?: unknown): WinnowError {
  return new WinnowError('invalid_option', `${FILE} ${why}`, { cause });
}

interface FoundSource {
  readonly path: string;
  readonly what: string;
}

/** Where programs keep their MCP configuration, besides files of the folder itself. */
const HIDDEN_FILES = ['.mcp.json', '.vscode/mcp.json', '.cursor/mcp.json'];
const SKILL_FOLDERS = ['skills', '.claude/skills'];

async function findSources(): Promise<FoundSource[]> {
  const entries = await readdir('.', { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile() && isDataFile(entry)).map(({ name }) => name);
  const paths = [...names.sort(), ...HIDDEN_FILES.filter((path) => existsSync(path))];
  const found: FoundSource[] = [];
  for (const path of paths) {
    // Skips files of unknown format and files that their format refuses.
    const what = await nameKind(path).catch(() => undefined);
    if (what !== undefined) found.push({ path, what });
  }
  for (const path of SKILL_FOLDERS) if (await hasSkill(path)) found.push({ path, what: 'skills' });
  return found;
}

function isDataFile({ name }: Dirent): boolean {
  return /^[^.].*\.(?:json|jsonl|ya?ml)$/iu.test(name) && !/^(?:winnow\.|package(?:-lock)?\.json)/u.test(name);
}

const NAMES = { openapi: 'OpenAPI', mcp: 'MCP servers', skills: 'skills' };

/** @returns undefined for JSON that holds no tools */
async function nameKind(path: string): Promise<string | undefined> {
  const { DEFAULT_SOURCE_TIMEOUT_MS, detectSource, readSource } = await import('../../core/catalog/sources/formats.js');
  const spec = await detectSource(path);
  if (spec.kind !== 'json') return spec.kind === 'tools' ? undefined : NAMES[spec.kind];
  const [reading] = await readSource(spec, { timeoutMs: DEFAULT_SOURCE_TIMEOUT_MS });
  const entries = reading && 'entries' in reading ? reading.entries : [];
  return entries.length > 0 && entries.every(isTool) ? 'tools' : undefined;
}

/** Includes the forms of OpenAI and Anthropic. A name alone is not enough. */
function isTool(entry: unknown): boolean {
  const { name, function: called } = Object(entry);
  if (typeof Object(called).name === 'string') return true;
  const known = ['toolType', 'inputSchema', 'input_schema', 'parameters'];
  return typeof name === 'string' && known.some((key) => key in Object(entry));
}

async function hasSkill(folder: string): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.some((entry) => entry.isDirectory() && existsSync(join(folder, entry.name, 'SKILL.md')));
}

/** Removing `# ` from a commented key gives a valid line. */
function renderConfig(sources: readonly FoundSource[]): string {
  const catalog = sources.map(
    ({ path, what }) => `  - ${/^[\w./-]+$/u.test(path) ? path : JSON.stringify(path)} # ${what}`,
  );
  return `# Configuration of Winnow. Each key may be left out; "winnow config keys" shows all, with defaults and units.
# An editor knows the keys by "winnow config keys --json > winnow.schema.json" and this line:
# yaml-language-server: $schema=winnow.schema.json

# Sources of tools: files of tools, OpenAPI documents, MCP configurations, folders of skills, URLs.
${sources.length === 0 ? '# catalog: [tools.json]' : ['catalog:', ...catalog].join('\n')}

# The model: any OpenAI-compatible endpoint. Without it a small local one is used, 1.1 GB at the first request.
# model:
#   baseUrl: http://127.0.0.1:8080/v1
#   name: my-model
#   apiKeyEnv: MY_KEY

# The planner.
# options:
#   maxTools: 8
#   timeoutMs: 600000

# For winnow serve, mcp and run: what agents may do, where sessions and approvals are kept, what runs builtin tools.
# policy: policy.yaml
# store: agents.db
# toolsModule: tools.mjs
# sandbox:
#   timeoutMs: 3000

# Who may ask winnow serve, where others than this machine reach it.
# auth:
#   tokens:
#     - env: ANN_TOKEN
#       user: ann
#       roles: [operator]
`;
}
