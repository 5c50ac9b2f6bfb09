/**
 * Arguments as approvers see them: exactly as they will run, except for values that the tool's schema marks secret.
 * These show as length and keyed digest, so that different secrets look different and none can be guessed.
 */
import { isObject } from '../../core/catalog/schema/json.js';
import { mapSecrets, type SecretPath } from '../../core/catalog/schema/secrets.js';
import type { JsonSchema } from '../../core/catalog/tool.js';
import { canonicalJson } from '../approvals/canonical-json.js';

/**
 * @param digest keyed; its first digits are shown
 * @param kept the masked form at a path whose secret itself is not in `value`. Default: none
 */
export function hideSecrets(
  schema: JsonSchema,
  value: unknown,
  digest: (value: unknown) => string,
  kept: (path: SecretPath) => unknown = () => undefined,
): unknown {
  return mapSecrets(schema, value, (secret, path) =>
    kept(path) === secret && secret !== undefined ? secret : describe(secret, digest),
  );
}

/** Long enough to prevent collisions: by these digits an approval binds a call to its secrets. */
const SHOWN_DIGITS = 16;
const SHOWN_FORM = new RegExp(String.raw`^\[secret: \d+ characters, [0-9a-f]{${SHOWN_DIGITS}}\]$`, 'u');

function describe(value: unknown, digest: (value: unknown) => string): string {
  const characters = [...(typeof value === 'string' ? value : canonicalJson(value))].length;
  return `[secret: ${characters} characters, ${digest(value).slice(0, SHOWN_DIGITS)}]`;
}

/**
 * Masked arguments -> arguments to run, with the secrets of the original call. Where that fills in a wrong value, the
 * call no longer matches its approval and does not run.
 */
export function fillSecrets(shown: unknown, asked: unknown): unknown {
  if (typeof shown === 'string') return asked !== undefined && SHOWN_FORM.test(shown) ? asked : shown;
  if (Array.isArray(shown))
    return shown.map((item, at) => fillSecrets(item, Array.isArray(asked) ? asked[at] : undefined));
  if (!isObject(shown)) return shown;
  const before = isObject(asked) ? asked : {};
  const own = (key: string) => (Object.hasOwn(before, key) ? before[key] : undefined);
  return Object.fromEntries(Object.entries(shown).map(([key, part]) => [key, fillSecrets(part, own(key))]));
}
