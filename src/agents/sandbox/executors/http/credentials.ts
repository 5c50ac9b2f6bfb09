/**
 * Secrets of operations. The configuration names the environment variables that hold them. They are bound to one
 * origin, read when needed, and masked in all answers.
 */
import { readVariable } from '../../../../core/environment.js';
import { createKeyMask, keysOfLogin } from '../../../../core/secret-forms.js';
import { type CallFailure, fail } from '../../failure.js';
import type { Credential, HttpRequest, HttpTarget } from './build-request.js';

/** Security scheme of the document -> name of the variable with its secret; for `basic` it is `user:password`. */
type SecretNames = Readonly<Record<string, string>>;

/** A configured variable for a secret of an API that is not set. */
export interface UnsetSecret {
  readonly origin: string;
  readonly scheme: string;
  readonly variable: string;
}

interface Credentials {
  readonly ok: true;
  apply(request: HttpRequest): HttpRequest;
  /** The text without any of the secrets. */
  mask(text: string): string;
}

interface ChosenWay {
  readonly ok: true;
  readonly credentials: readonly Credential[];
}

export function findUnset(origin: string, names: SecretNames): UnsetSecret[] {
  return Object.entries(names)
    .filter(([, variable]) => readVariable(variable) === undefined)
    .map(([scheme, variable]) => ({ origin, scheme, variable }));
}

/** The first security alternative with all secrets configured; none only if the document allows that and none is. */
export function chooseWay(target: HttpTarget, names: SecretNames, origin: string): ChosenWay | CallFailure {
  const ways = target.security ?? [[]];
  const usable = ways.filter((credentials) => credentials.every(({ scheme }) => Object.hasOwn(names, scheme)));
  const way = usable.find((credentials) => credentials.length > 0) ?? usable[0];
  if (way) return { ok: true, credentials: way };
  const needed = ways.map((credentials) => credentials.map(({ scheme }) => scheme).join(' and ')).join(' or ');
  if (needed === '') return fail('secret_missing', 'The operation needs a kind of security that is not supported.');
  const [{ scheme = '' } = {}] = ways.find((credentials) => credentials.length > 0) ?? [];
  const example = `http: { secrets: { "${origin}": { ${scheme}: MY_SECRET } } }`;
  return fail(
    'secret_missing',
    `The operation needs ${needed}; no variable is configured for it. Name a variable of the environment in the configuration file, for example ${example}.`,
  );
}

export function readCredentials(target: HttpTarget, names: SecretNames, origin: string): Credentials | CallFailure {
  const way = chooseWay(target, names, origin);
  if (!way.ok) return way;
  const found = way.credentials.map((credential) => ({ credential, variable: names[credential.scheme] ?? '' }));
  const missing = found.find(({ variable }) => readVariable(variable) === undefined);
  if (missing) {
    const { credential, variable } = missing;
    return fail('secret_missing', `The variable ${variable} (http.secrets, for ${credential.scheme}) is not set.`);
  }
  const secrets = found.map(({ credential, variable }) => ({ credential, value: readVariable(variable) ?? '' }));
  return {
    ok: true,
    apply: (request) => secrets.reduce((whole, { credential, value }) => withSecret(whole, credential, value), request),
    mask: createKeyMask(
      secrets.flatMap(({ credential, value }) => (credential.form === 'basic' ? keysOfLogin(value) : [value])),
    ),
  };
}

function withSecret(request: HttpRequest, { in: place, name, form }: Credential, value: string): HttpRequest {
  const text = form === 'bearer' ? `Bearer ${value}` : form === 'basic' ? `Basic ${toBase64(value)}` : value;
  if (place === 'query') {
    const url = new URL(request.url);
    const others = url.search.slice(1).split('&');
    const kept = others.filter((pair) => pair !== '' && !new URLSearchParams(pair).has(name));
    url.search = [...kept, new URLSearchParams({ [name]: text })].join('&');
    return { ...request, url };
  }
  if (place === 'header') return { ...request, headers: { ...request.headers, [name.toLowerCase()]: text } };
  const cookie = [request.headers.cookie, `${name}=${encodeURIComponent(text)}`].filter(Boolean).join('; ');
  return { ...request, headers: { ...request.headers, cookie } };
}

function toBase64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
