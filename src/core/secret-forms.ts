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

/** Host and port of Redis, without its password. Undefined for what is no URL of Redis, or has a word as its database. */
export function redisPlaceOf(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['redis:', 'rediss:'].includes(url.protocol) || !/^\/?\d*$/u.test(url.pathname)) return undefined;
  return url.host || 'localhost';
}

/** A function that masks all the keys in a text, in each of their written forms and in any case: URLs lower host names. */
export function createKeyMask(keys: readonly (string | undefined)[]): (text: string) => string {
  const forms = new Set(keys.flatMap((key = '') => (key.length < SHORTEST_KEY_CHARACTERS ? [] : writtenForms(key))));
  const large = [...forms].filter(({ length }) => length > LARGE).sort((one, other) => other.length - one.length);
  const find = createFinder([...forms].filter(({ length }) => length <= LARGE));
  return (text) => {
    const rest = large.reduce((left, form) => left.replaceAll(form, MASK), text);
    const { read, placeOf } = withoutEscapes(rest);
    const escaped = read === rest ? [] : find(read).map(placeOf);
    const open = maskPlaces(rest, escaped);
    return maskPlaces(open, find(open));
  };
}

/** What is nested deeper is masked as a whole, so that no depth takes all of the stack. */
const MOST_DEPTH = 500;

/** A copy in which all texts, names of fields, and numbers that are keys are masked. */
export function maskTexts(value: unknown, mask: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return mask(value);
  if (typeof value === 'number') return mask(`${value}`) === MASK ? MASK : value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MOST_DEPTH) return MASK;
  if (Array.isArray(value)) return value.map((item) => maskTexts(item, mask, depth + 1));
  const fields = Object.entries(value).map(([name, part]) => [mask(name), maskTexts(part, mask, depth + 1)]);
  return Object.fromEntries(fields);
}

interface Place {
  readonly start: number;
  readonly end: number;
}

/** @param places in order */
function maskPlaces(text: string, places: readonly Place[]): string {
  let [masked, from] = ['', 0];
  for (const { start, end } of places) {
    masked += text.slice(from, start) + MASK;
    from = end;
  }
  return masked + text.slice(from);
}

/** What programs write in JSON for characters that need no escape, also in JSON in JSON: `\/`, `\u002B`, `\\\/`. */
const NEEDLESS_ESCAPE = /(?<!\\)\\+(?:\/|u[\da-f]{4})/giu;

/**
 * The text with the characters that its escapes stand for.
 * @returns with a function that gives the place in the text itself, to be called in the order of places
 */
function withoutEscapes(text: string): { read: string; placeOf: (place: Place) => Place } {
  /** Behind each of these characters, and how much longer the text is up to there. */
  const ends: number[] = [];
  const surplus = [0];
  const read = text.replace(NEEDLESS_ESCAPE, (written, at: number) => {
    const before = surplus[ends.length] ?? 0;
    ends.push(at - before + 1);
    surplus.push(before + written.length - 1);
    return characterOf(written);
  });
  let passed = 0;
  const inText = (at: number) => {
    while ((ends[passed] ?? Infinity) <= at) passed += 1;
    return at + (surplus[passed] ?? 0);
  };
  return { read, placeOf: ({ start, end }) => ({ start: inText(start), end: inText(end) }) };
}

function characterOf(written: string): string {
  return written.endsWith('/') ? '/' : String.fromCharCode(Number.parseInt(written.slice(-4), 16));
}

/** Characters. A larger key is looked for by itself. */
export const LARGE = 8_000;

interface State {
  readonly next: Map<number, State>;
  /** Where the longest other beginning of a text that ends here leads. */
  fallback: State | undefined;
  /** Length of the longest text that ends here; 0 if none does. */
  longest: number;
}

/**
 * Finds all places of many texts in one pass, in any case; places that overlap are one. The time is linear in the text, whatever
 * it holds (Aho and Corasick, "Efficient String Matching", 1975).
 */
function createFinder(texts: readonly string[]): (text: string) => readonly Place[] {
  const stateOf = (): State => ({ next: new Map(), fallback: undefined, longest: 0 });
  const root = stateOf();
  const follow = (from: State | undefined, unit: number): State => {
    let state = from;
    while (state && !state.next.has(unit)) state = state.fallback;
    return state?.next.get(unit) ?? root;
  };
  for (const text of texts) {
    let state = root;
    for (let at = 0; at < text.length; at++) {
      const unit = lowered(text.charCodeAt(at));
      const next = state.next.get(unit) ?? stateOf();
      state.next.set(unit, next);
      state = next;
    }
    state.longest = text.length;
  }
  // Breadth first: the fallback of a state is nearer to the root. The list grows during the loop.
  const states = [root];
  for (const state of states)
    for (const [unit, next] of state.next) {
      next.fallback = follow(state.fallback, unit);
      next.longest = Math.max(next.longest, next.fallback.longest);
      states.push(next);
    }
  return (text) => {
    const found: Place[] = [];
    let state = root;
    for (let at = 0; at < text.length; at++) {
      state = follow(state, lowered(text.charCodeAt(at)));
      if (state.longest === 0) continue;
      let start = at + 1 - state.longest;
      for (let last = found.at(-1); last && last.end > start; last = found.at(-1)) {
        start = Math.min(start, last.start);
        found.pop();
      }
      found.push({ start, end: at + 1 });
    }
    return found;
  };
}

/** Of one UTF-16 unit, so that places in the text stay the same. */
function lowered(unit: number): number {
  if (unit < 128) return unit > 64 && unit < 91 ? unit + 32 : unit;
  return String.fromCharCode(unit).toLowerCase().charCodeAt(0);
}

/** Of a login `user:password`: as a whole, and the password, which servers name alone. */
export function keysOfLogin(login: string): string[] {
  return [login, login.slice(login.indexOf(':') + 1)];
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
