/**
 * Takes secrets out of what is logged, at any depth: values under names that say secret, given literal values, and
 * texts that look like a key. Works on a copy.
 */
import { types } from 'node:util';

export const MASK = '[masked]';

export interface RedactOptions {
  /** Literal values that must not appear: keys of the configuration, secret arguments of the request. */
  readonly secrets?: readonly string[] | undefined;
  /** Further names whose values are masked, for example arguments that their schema marks secret. */
  readonly secretNames?: readonly string[] | undefined;
}

const SECRET_NAME =
  /(apikey|authorization|password|passwd|passphrase|secret|accesstoken|refreshtoken|authtoken|bearertoken|idtoken|privatekey|credentials?|cookie)$|^(token|pwd)$/;
const KEY_IN_TEXT = /\b(?:Bearer\s+[\w.~+/=-]{6,}|sk-[\w-]{8,})/gi;
const MAX_DEPTH = 12;

/** A function that returns a redacted copy of any value; errors become plain objects. */
export function createRedactor(options: RedactOptions = {}): (value: unknown) => unknown {
  const names = new Set((options.secretNames ?? []).map(plainName));
  const written = writtenForms(options.secrets ?? []);
  const isSecretName = (name: string) => SECRET_NAME.test(plainName(name)) || names.has(plainName(name));

  const redactText = (text: string): string =>
    written.reduce((rest, secret) => rest.replaceAll(secret, MASK), text).replace(KEY_IN_TEXT, MASK);

  const redactEntries = (value: object, depth: number, above: readonly object[]): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(value).map(([name, part]) => [
        redactText(name),
        isSecretName(name) && part !== undefined ? MASK : redactAny(part, depth + 1, [...above, value]),
      ]),
    );

  const redactAny = (value: unknown, depth: number, above: readonly object[]): unknown => {
    if (typeof value === 'string') return redactText(value);
    if (typeof value === 'number' || typeof value === 'bigint') return written.includes(`${value}`) ? MASK : value;
    if (typeof value !== 'object' || value === null || value instanceof Date) return value;
    if (depth > MAX_DEPTH || above.includes(value)) return '[…]';
    if (Array.isArray(value)) return value.map((part) => redactAny(part, depth + 1, [...above, value]));
    if (isError(value)) {
      const { name, message, stack, cause } = value;
      return redactEntries({ ...value, name, message, stack, ...(cause ? { cause } : {}) }, depth, above);
    }
    return redactEntries(value, depth, above);
  };

  return (value) => redactAny(value, 0, []);
}

/** Also those of another realm, which are no instances of Error here. */
function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value);
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** A secret as it may stand in a text: as it is, inside JSON, inside JSON in JSON, in a URL. Longest first. */
function writtenForms(secrets: readonly string[]): string[] {
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  const forms = secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [secret, inJson(secret), inJson(inJson(secret)), inUrl(secret)]);
  return [...new Set(forms)].sort((left, right) => right.length - left.length);
}

function inUrl(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text; // half a surrogate pair has no form in a URL
  }
}
