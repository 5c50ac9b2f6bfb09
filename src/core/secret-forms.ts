/** Masks secrets in texts, in each encoding in which a program may have written them. */

export const MASK = '[masked]';

/** A shorter key would mask ordinary text; real keys are longer. */
const SHORTEST_KEY_CHARACTERS = 4;

/** Text of the form of a key; servers quote keys with stars inside. */
const KEY_IN_TEXT = /\b(?:Bearer\s+[\w.~+/=*-]{6,}|sk-[\w*.-]{5,}[\w*-])/gi;

export function maskKeysIn(text: string): string {
  return text.replace(KEY_IN_TEXT, MASK);
}

const URL_TEXT = /^((?:[a-z]+:)*?)([a-z][a-z\d+.-]*:\/\/.*)$/isu;

/** Removes the parts of a URL that may contain keys: user, password, query and fragment. Keeps a prefix of a source's kind. */
export function withoutUrlKeys(text: string): string {
  const [, before, address] = URL_TEXT.exec(text) ?? [];
  if (address === undefined) return text;
  if (!URL.canParse(address)) return MASK;
  const url = new URL(address);
  Object.assign(url, { username: '', password: '', search: '', hash: '' });
  return `${before}${url.href}`;
}

/** Host and port of Redis, without its password. Undefined for what is no URL of Redis. */
export function redisPlaceOf(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && ['redis:', 'rediss:'].includes(url.protocol) ? url.host || 'localhost' : undefined;
}

/** A function that masks all the keys in a text, in each of their written forms and in any case: URLs lower host names. */
export function createKeyMask(keys: readonly (string | undefined)[]): (text: string) => string {
  const forms = keys.flatMap((key = '') => (key.length < SHORTEST_KEY_CHARACTERS ? [] : writtenForms(key)));
  const longestFirst = [...new Set(forms)].sort((left, right) => right.length - left.length);
  // Much larger expressions don't compile.
  const large = longestFirst.filter(({ length }) => length > MOST_CHARACTERS);
  const groups = inGroups(longestFirst.slice(large.length));
  const patterns = groups.map((group) => new RegExp(group.map(escaped).join('|'), 'gi'));
  return (text) => {
    const rest = large.reduce((left, form) => left.replaceAll(form, MASK), text);
    return patterns.reduce((left, pattern) => left.replace(pattern, MASK), rest);
  };
}

/** Of one expression: one of many forms is several times faster than many of one. */
const MOST_CHARACTERS = 8_000;

function inGroups(forms: readonly string[]): string[][] {
  const groups: string[][] = [];
  let characters = Number.POSITIVE_INFINITY;
  for (const form of forms) {
    characters += form.length;
    if (characters > MOST_CHARACTERS) {
      groups.push([]);
      characters = form.length;
    }
    groups.at(-1)?.push(form);
  }
  return groups;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/gu, '\\$&');
}

/** The plain key, in JSON, in JSON in JSON, in a URL, in a form, in Base64. */
function writtenForms(key: string): string[] {
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  const bytes = Buffer.from(key, 'utf8');
  return [
    key,
    inJson(key),
    inJson(inJson(key)),
    encodeURIComponent(bytes.toString('utf8')),
    new URLSearchParams([['', key]]).toString().slice(1),
    bytes.toString('base64'),
    bytes.toString('base64url'),
  ];
}
