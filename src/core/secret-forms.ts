/** Secrets in texts: every form in which a program may have written one, and what stands in its place. */

export const MASK = '[masked]';

/** A shorter key would mask ordinary text; nobody's is so short. */
const SHORTEST_KEY_CHARACTERS = 4;

/** What looks like a key, whoever's it is; servers quote them with stars inside. */
const KEY_IN_TEXT = /\b(?:Bearer\s+[\w.~+/=*-]{6,}|sk-[\w*.-]{5,}[\w*-])/gi;

/** The text without what looks like a key. */
export function maskKeysIn(text: string): string {
  return text.replace(KEY_IN_TEXT, MASK);
}

/** A function that returns a text without any of the secrets, in whatever form. */
export function createMask(secrets: readonly string[]): (text: string) => string {
  const written = writtenForms(secrets);
  return (text) => written.reduce((rest, form) => rest.replaceAll(form, MASK), text);
}

/** As `createMask`, for keys of the configuration. */
export function createKeyMask(keys: readonly (string | undefined)[]): (text: string) => string {
  return createMask(keys.filter((key) => key !== undefined).filter((key) => key.length >= SHORTEST_KEY_CHARACTERS));
}

/** As it is, inside JSON, inside JSON in JSON, in a URL, in a form, in Base64. The longest first. */
function writtenForms(secrets: readonly string[]): string[] {
  const forms = secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [secret, inJson(secret), inJson(inJson(secret)), inUrl(secret), inForm(secret)])
    .concat(secrets.filter(({ length }) => length >= SHORTEST_KEY_CHARACTERS).flatMap(inBase64));
  return [...new Set(forms)].sort((left, right) => right.length - left.length);
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function inUrl(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text; // half a surrogate pair has no form in a URL
  }
}

/** Of the query of a URL, too, where `URLSearchParams` has written it. */
function inForm(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

function inBase64(text: string): string[] {
  const bytes = Buffer.from(text, 'utf8');
  return [bytes.toString('base64'), bytes.toString('base64url')];
}
