/**
 * Takes secrets out of what is logged, at any depth: values under names that say secret, given literal values, and
 * texts that look like a key. Works on a copy.
 */
import { types } from 'node:util';
import { createMask, MASK, maskKeysIn } from '../secret-forms.js';

export interface RedactOptions {
  /** Literal values that must not appear: keys of the configuration, secret arguments of the request. */
  readonly secrets?: readonly string[] | undefined;
  /** Further names whose values are masked, for example arguments that their schema marks secret. */
  readonly secretNames?: readonly string[] | undefined;
}

const SECRET_NAME =
  /(apikey|authorization|password|passwd|passphrase|secret|accesstoken|refreshtoken|authtoken|bearertoken|idtoken|privatekey|credentials?|cookie)$|^(token|pwd)$/;
const MAX_DEPTH = 12;

/** A function that returns a redacted copy of any value; errors become plain objects. */
export function createRedactor(options: RedactOptions = {}): (value: unknown) => unknown {
  const names = new Set((options.secretNames ?? []).map(plainName));
  const mask = createMask(options.secrets ?? []);
  const isSecretName = (name: string) => SECRET_NAME.test(plainName(name)) || names.has(plainName(name));

  const redactText = (text: string): string => maskKeysIn(mask(text));

  const redactEntries = (value: object, depth: number, above: readonly object[]): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(value).map(([name, part]) => [
        redactText(name),
        isSecretName(name) && part !== undefined ? MASK : redactAny(part, depth + 1, [...above, value]),
      ]),
    );

  const redactAny = (value: unknown, depth: number, above: readonly object[]): unknown => {
    if (typeof value === 'string') return redactText(value);
    if (typeof value === 'number' || typeof value === 'bigint') return mask(`${value}`) === MASK ? MASK : value;
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
