/** `winnow doctor`: tries each part that a request needs, and says how to mend what fails. Prints no secret. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { reasonOf, toWinnowError, WinnowError } from '../../core/errors.js';
import { command, type FlagsOf } from '../command.js';
import type { ConfigFile } from '../config-file.js';
import { JSON_OUTPUT, PLANNING, STORE } from '../flags.js';
import type { LoadedTools } from '../load-tools.js';
import { colours, counted, print, printableMessage } from '../output.js';

const FLAGS = { ...PLANNING, ...STORE, ...JSON_OUTPUT };
type Flags = FlagsOf<typeof FLAGS>;

interface Finding {
  readonly part: string;
  readonly ok: boolean;
  /** What was found, or the problem and its remedy. */
  readonly text: string;
}

export function doctorCommand(): Command {
  return command({
    name: 'doctor',
    about:
      'try configuration, sources, policy, store, secrets and model, and say what to do where one fails (exit code 1)',
    flags: FLAGS,
    examples: ['winnow doctor', 'winnow doctor -c winnow.yaml --json'],
    async run(_, flags) {
      const findings = await examine(flags);
      const lines = findings.map(({ part, ok, text }) => {
        const mark = ok ? colours.green('ok    ') : colours.red('wrong ');
        return `${mark} ${part.padEnd(14)}  ${printableMessage(text)}`;
      });
      print(flags, { value: findings, text: lines.join('\n') });
      if (findings.some(({ ok }) => !ok)) process.exitCode = 1;
    },
  });
}

/** Without a usable configuration only that finding is reported. */
async function examine(flags: Flags): Promise<Finding[]> {
  const { configPathOf, readConfig } = await import('../read-config.js');
  let config: ConfigFile = {};
  const whole = await tryPart('configuration', async () => {
    config = await readConfig(flags);
    return configPathOf(flags) ?? 'no file: defaults, flags and environment. Write one with: winnow init';
  });
  const mask = await createMask(config);
  if (!whole.ok) return [{ ...whole, text: mask(whole.text) }];
  const opened: LoadedTools[] = [];
  const sources = await tryPart('sources', async () => {
    const tools = await loadSources(config);
    opened.push(tools);
    return renderSources(tools);
  });
  const findings = [
    ...[whole, sources, await tryPart('policy', () => tryPolicy(config, opened[0]))],
    ...(await Promise.all(opened.map((tools) => tryPart('runnable tools', () => tryExecutors(config, tools))))),
    await tryPart('other files', async () => (await import('../effective-config.js')).readOwnFiles(config)),
    await tryPart('store', () => tryStore(config)),
    await tryPart('who may ask', () => tryAuth(config)),
    ...(await tryModels(config)),
  ];
  return findings.map((one) => ({ ...one, text: mask(one.text) }));
}

async function tryPart(part: string, work: () => Promise<string>): Promise<Finding> {
  try {
    return { part, ok: true, text: await work() };
  } catch (error) {
    return { part, ok: false, text: toWinnowError(error).message };
  }
}

const wrong = (message: string) => new WinnowError('invalid_option', message);

async function loadSources(config: ConfigFile): Promise<LoadedTools> {
  const { loadTools, requireSources } = await import('../load-tools.js');
  requireSources(config);
  const loaded = await loadTools(config, { isLenient: true });
  const { catalog } = loaded.loaded;
  // A server that users authorize is read by winnow serve alone.
  const failures = loaded.loaded.failures.filter(({ isUnconnected }) => !isUnconnected);
  if (failures.length > 0) throw wrong(failures.map(({ error }) => error.message).join(' '));
  if (catalog.tools.length === 0) throw wrong('The sources hold no usable tool. See why with: winnow tools check');
  return loaded;
}

function renderSources({ loaded, sources }: LoadedTools): string {
  const warnings = loaded.issues.filter(({ level }) => level === 'warning').length;
  const more = warnings === 0 ? '' : `; ${counted(warnings, 'warning')}: winnow tools check`;
  return `${counted(loaded.catalog.tools.length, 'tool')} of ${counted(sources.length, 'source')}${more}`;
}

async function tryPolicy(config: ConfigFile, tools: LoadedTools | undefined): Promise<string> {
  const { openPolicy } = await import('../agents-setup.js');
  const { findPolicyNotes } = await import('./policy.js');
  const policy = (await openPolicy(config.policy)).current();
  const notes = tools ? await findPolicyNotes(policy, config, tools.loaded.catalog.tools) : [];
  const problems = notes.filter(({ level }) => level === 'problem').map(({ message }) => message);
  if (problems.length > 0) throw wrong(`${problems.join('; ')}. See: winnow policy check`);
  return config.policy ?? 'the default: calls of high risk wait for an approval';
}

async function tryExecutors(config: ConfigFile, tools: LoadedTools): Promise<string> {
  const { openExecutors } = await import('../catalog-setup.js');
  const { catalog } = tools.loaded;
  const warnings: string[] = [];
  const logger = { warn: (_: unknown, message = '') => void warnings.push(message) };
  const { executors, runnable } = await openExecutors({ config, sources: tools.sources, catalog, logger });
  const obstacles = await Promise.all(
    executors.map(async (one) => [...((await one.findObstacles?.(catalog.tools)) ?? [])]),
  );
  for (const executor of executors) await executor.close?.();
  const problems = [...warnings, ...obstacles.flat().map(renderObstacle)];
  if (problems.length > 0) throw wrong(problems.join('; '));
  const advice = runnable < catalog.tools.length ? '; functions of the others: toolsModule in the configuration' : '';
  return `${runnable} of ${catalog.tools.length}${advice}`;
}

function renderObstacle([reason, [tool, ...others]]: [string, readonly string[]]): string {
  return `${tool}${others.length === 0 ? '' : ` and ${counted(others.length, 'other')}`}: ${reason.replace(/\.$/u, '')}`;
}

async function tryAuth({ auth }: ConfigFile): Promise<string> {
  const { openOperatorToken, readAuth } = await import('../auth-setup.js');
  const { readIssuerKeys } = await import('../../adapters/http/auth/jwt.js');
  const { tokens = [], verifyJwt, gatewaySecret } = readAuth(auth);
  await openOperatorToken();
  if (auth?.jwt)
    await readIssuerKeys(auth.jwt).catch((error: unknown) => {
      throw wrong(`The keys of auth.jwt.jwksUrl can't be read (${reasonOf(error)}). Check that URL.`);
    });
  const ways = [
    ...(tokens.length > 0 ? [counted(tokens.length, 'token')] : []),
    ...(verifyJwt ? ['JSON Web Tokens'] : []),
    ...(gatewaySecret === undefined ? [] : ['a gateway']),
  ];
  return ways.join(', ') || 'programs of this machine; name others under auth in the configuration';
}

/** Creates no store. */
async function tryStore(config: ConfigFile): Promise<string> {
  const { storePlaceOf } = await import('../read-config.js');
  const { openStore } = await import('../../agents/store/open-store.js');
  const place = storePlaceOf(config);
  if (!place) return 'memory: sessions and approvals end with the process. Name a file: store in the configuration';
  if ('file' in place && !existsSync(place.file)) {
    const { dirname } = await import('node:path');
    if (!existsSync(dirname(place.file))) throw wrong(`The folder of the store ${place.file} is not there: make it.`);
    return `${place.file}: not there yet, a server makes it`;
  }
  const store = await openStore(place);
  await store.probe().finally(() => store.close());
  return 'file' in place ? place.file : 'the database answers and can be written to';
}

async function tryModels(config: ConfigFile): Promise<Finding[]> {
  const { modelSettings, planningModelSettings, rerankModelSettings } = await import('../model-settings.js');
  const { askForOneToken } = await import('./serve.js');
  const { createModel } = await import('../../core/model/create-model.js');
  const ask = async (settings: ReturnType<typeof modelSettings>): Promise<string> => {
    if (settings.baseUrl === undefined) return tryLocalModel(settings);
    const model = await createModel(settings);
    await askForOneToken(model).finally(() => model.close());
    return `${settings.model} at ${settings.baseUrl} answers`;
  };
  const first = await tryPart('model', async () => ask(modelSettings(config)));
  const others = {
    ...(config.planningModel && {
      'planning model': () => planningModelSettings(config, modelSettings(config)),
    }),
    ...(config.rerank?.model && { 'search model': () => rerankModelSettings(config) }),
  };
  const further = Object.entries(others).map(([part, settingsOf]) =>
    tryPart(part, async () => {
      const settings = settingsOf();
      return settings ? ask(settings) : 'none of its own';
    }),
  );
  return [first, ...(await Promise.all(further))];
}

/** Checks only the files, since loading the model takes a minute. */
async function tryLocalModel({
  model: name,
  modelFile,
}: {
  model?: string | undefined;
  modelFile?: string | undefined;
}) {
  const { importLibrary } = await import('../../core/model/embedded/runtime.js');
  const { formatBytes, modelStatus } = await import('../../core/model/store/model-file.js');
  await importLibrary();
  if (modelFile !== undefined) {
    if (existsSync(modelFile)) return modelFile;
    throw wrong(`There is no model file ${modelFile}. Correct the path, or leave it out.`);
  }
  const { name: known, path, state, bytes } = await modelStatus({ name });
  if (state === 'present') return `${known}, local: ${path}`;
  const endpoint = 'or name an endpoint: model.baseUrl and model.name';
  throw wrong(`${known} is not here yet (${state}). Fetch its ${formatBytes(bytes)}: winnow model pull; ${endpoint}.`);
}

/** Masks secrets: errors of servers and drivers may quote their input. */
async function createMask(config: ConfigFile): Promise<(text: string) => string> {
  const { createKeyMask, maskKeysIn } = await import('../../core/secret-forms.js');
  const { configuredSecrets } = await import('../model-settings.js');
  const { storePlaceOf } = await import('../read-config.js');
  const place = storePlaceOf(config);
  const url = place && 'url' in place && URL.canParse(place.url) ? new URL(place.url) : undefined;
  const mask = createKeyMask([...configuredSecrets(config), url && decodeURIComponent(url.password)]);
  return (text) => maskKeysIn(mask(text));
}
