/**
 * Approvers see no secrets, so they can't change any. In edited arguments, a secret that is left out, or has its masked
 * form, stands for the original one. It can only be removed with the object or list around it.
 */
import { isObject, joinPath } from '../../core/catalog/schema/json.js';
import { mapSecrets, type SecretPath } from '../../core/catalog/schema/secrets.js';
import type { JsonSchema } from '../../core/catalog/tool.js';

export interface KeptSecrets {
  /** The masked form of the secret at a path. */
  shownAt(path: SecretPath): unknown;
  readonly paths: readonly SecretPath[];
}

type Kept =
  | { readonly ok: true; readonly arguments: Readonly<Record<string, unknown>>; readonly kept: KeptSecrets }
  | { readonly ok: false; readonly issues: readonly string[] };

/** @param asked the original arguments, masked */
export function keepSecrets(schema: JsonSchema, asked: unknown, edited: Readonly<Record<string, unknown>>): Kept {
  const secrets = new Map<string, { path: SecretPath; shown: unknown }>();
  mapSecrets(schema, asked, (shown, path) => secrets.set(JSON.stringify(path), { path, shown }));
  const shownAt = (path: SecretPath) => secrets.get(JSON.stringify(path))?.shown;
  const filled = structuredClone(edited);
  for (const { path, shown } of secrets.values()) fillIn(filled, path, shown);
  const issues: string[] = [];
  mapSecrets(schema, filled, (value, path) => {
    if (value === undefined || value !== shownAt(path)) issues.push(`${placeOf(path)}: ${STAYS}`);
    return value;
  });
  if (issues.length > 0) return { ok: false, issues };
  return { ok: true, arguments: filled, kept: { shownAt, paths: [...secrets.values()].map(({ path }) => path) } };
}

const STAYS = 'is secret and stays as it was asked for; leave it out, or write what is shown of it';

function placeOf(path: SecretPath): string {
  return path.reduce<string>(joinPath, '') || '(arguments)';
}

/** Skips lists, where the original position of an element is unknown. */
function fillIn(edited: unknown, path: SecretPath, shown: unknown): void {
  const [name] = path.slice(-1);
  const parent = path.slice(0, -1).reduce<unknown>((part, key) => {
    return isObject(part) && Object.hasOwn(part, key) ? part[key] : undefined;
  }, edited);
  if (name !== undefined && isObject(parent) && !Object.hasOwn(parent, name)) Reflect.set(parent, name, shown);
}
