/**
 * A small interpreter of llama.cpp grammars, to test grammars without a model. It follows all ways at once:
 * a rule at a place gives the set of places where it can end.
 */

type Expression =
  | { kind: 'literal'; characters: readonly string[] }
  | { kind: 'class'; negated: boolean; ranges: readonly (readonly [number, number])[] }
  | { kind: 'rule'; name: string }
  | { kind: 'sequence'; parts: readonly Expression[] }
  | { kind: 'choice'; options: readonly Expression[] }
  | { kind: 'repeat'; part: Expression; least: number; most: number };

export interface Matcher {
  readonly ruleNames: readonly string[];
  accepts(text: string): boolean;
}

/** @throws Error on a form it does not know, a rule that is not defined, and left recursion (when met). */
export function createGbnfMatcher(grammar: string): Matcher {
  const rules = parseGrammar(grammar);
  for (const expression of rules.values()) requireRules(expression, rules);
  return {
    ruleNames: [...rules.keys()],
    accepts(text) {
      const characters = [...text];
      return createRun(rules, characters).endsOf({ kind: 'rule', name: 'root' }, 0).has(characters.length);
    },
  };
}

function createRun(rules: ReadonlyMap<string, Expression>, text: readonly string[]) {
  const known = new Map<string, Set<number> | 'open'>();

  function endsOf(expression: Expression, start: number): Set<number> {
    switch (expression.kind) {
      case 'literal': {
        const fits = expression.characters.every((character, offset) => text[start + offset] === character);
        return new Set(fits ? [start + expression.characters.length] : []);
      }
      case 'class':
        return new Set(start < text.length && inClass(text[start] ?? '', expression) ? [start + 1] : []);
      case 'rule':
        return endsOfRule(expression.name, start);
      case 'choice':
        return new Set(expression.options.flatMap((option) => [...endsOf(option, start)]));
      case 'sequence':
        return expression.parts.reduce((places, part) => step(part, places), new Set([start]));
      case 'repeat':
        return endsOfRepeat(expression, start);
    }
  }

  function step(part: Expression, places: ReadonlySet<number>): Set<number> {
    return new Set([...places].flatMap((place) => [...endsOf(part, place)]));
  }

  function endsOfRule(name: string, start: number): Set<number> {
    const key = `${name} ${start}`;
    const before = known.get(key);
    if (before === 'open') throw new Error(`left recursion in rule ${name}`);
    if (before) return before;
    known.set(key, 'open');
    const rule = rules.get(name);
    if (!rule) throw new Error(`no rule ${name}`);
    const ends = endsOf(rule, start);
    known.set(key, ends);
    return ends;
  }

  function endsOfRepeat({ part, least, most }: Extract<Expression, { kind: 'repeat' }>, start: number): Set<number> {
    let places = new Set([start]);
    const ends = new Set(least === 0 ? places : []);
    for (let count = 1; count <= most && places.size > 0; count++) {
      places = step(part, places);
      if (count < least) continue;
      const fresh = [...places].filter((place) => !ends.has(place));
      for (const place of fresh) ends.add(place);
      places = new Set(fresh);
    }
    return ends;
  }

  return { endsOf };
}

function inClass(character: string, { negated, ranges }: Extract<Expression, { kind: 'class' }>): boolean {
  const code = character.codePointAt(0) ?? 0;
  return ranges.some(([low, high]) => code >= low && code <= high) !== negated;
}

function requireRules(expression: Expression, rules: ReadonlyMap<string, Expression>): void {
  if (expression.kind === 'rule' && !rules.has(expression.name)) throw new Error(`no rule ${expression.name}`);
  if (expression.kind === 'sequence') for (const part of expression.parts) requireRules(part, rules);
  if (expression.kind === 'choice') for (const option of expression.options) requireRules(option, rules);
  if (expression.kind === 'repeat') requireRules(expression.part, rules);
}

function parseGrammar(grammar: string): Map<string, Expression> {
  const lines = grammar.split('\n').filter((line) => line.trim() !== '');
  return new Map(
    lines.map((line) => {
      const match = /^([a-zA-Z][a-zA-Z0-9-]*) ::= (.*)$/s.exec(line);
      if (!match) throw new Error(`no rule: ${line}`);
      return [match[1] ?? '', parseBody(match[2] ?? '')] as const;
    }),
  );
}

const SHORT_BOUNDS: ReadonlyMap<string, readonly [least: number, most: number]> = new Map([
  ['*', [0, Number.POSITIVE_INFINITY]],
  ['+', [1, Number.POSITIVE_INFINITY]],
  ['?', [0, 1]],
]);
/** Of `{1,100000}` and the like. */
const LONGEST_BOUNDS = 40;

/** Recursive descent over the code points of one rule body. */
function parseBody(body: string): Expression {
  const characters = [...body];
  let at = 0;
  const peek = () => characters[at];
  const skipSpaces = () => {
    while (peek() === ' ') at++;
  };

  function choice(): Expression {
    const options = [sequence()];
    while (peek() === '|') {
      at++;
      options.push(sequence());
    }
    return options.length === 1 && options[0] ? options[0] : { kind: 'choice', options };
  }

  function sequence(): Expression {
    const parts: Expression[] = [];
    for (skipSpaces(); at < characters.length && peek() !== '|' && peek() !== ')'; skipSpaces()) {
      parts.push(repeated(single()));
    }
    return { kind: 'sequence', parts };
  }

  function single(): Expression {
    const character = characters[at++];
    if (character === '"') return literal();
    if (character === '[') return characterClass();
    if (character === '(') {
      const inner = choice();
      if (characters[at++] !== ')') throw new Error(`unclosed group in ${body}`);
      return inner;
    }
    const start = at - 1;
    if (!/[a-zA-Z]/.test(character ?? '')) throw new Error(`unexpected ${character} in ${body}`);
    while (/[a-zA-Z0-9-]/.test(peek() ?? '')) at++;
    return { kind: 'rule', name: characters.slice(start, at).join('') };
  }

  function repeated(part: Expression): Expression {
    const symbol = peek() ?? '';
    const bounds = SHORT_BOUNDS.get(symbol);
    if (bounds) at++;
    const braces =
      symbol === '{' ? /^\{(\d+)(,(\d*))?\}/.exec(characters.slice(at, at + LONGEST_BOUNDS).join('')) : null;
    if (braces) at += braces[0].length;
    if (!bounds && !braces) return part;
    const least = bounds?.[0] ?? Number(braces?.[1]);
    const open = braces?.[3] === '' ? Number.POSITIVE_INFINITY : Number(braces?.[3] ?? least);
    return repeated({ kind: 'repeat', part, least, most: bounds?.[1] ?? open });
  }

  function literal(): Expression {
    const found: string[] = [];
    while (peek() !== '"') found.push(peek() === '\\' ? String.fromCodePoint(escaped()) : taken());
    at++;
    return { kind: 'literal', characters: found };
  }

  function taken(): string {
    const character = characters[at++];
    if (character === undefined) throw new Error(`unclosed literal in ${body}`);
    return character;
  }

  function characterClass(): Expression {
    const negated = peek() === '^';
    if (negated) at++;
    const ranges: [number, number][] = [];
    while (peek() !== ']') {
      const low = escaped();
      const isRange = peek() === '-' && characters[at + 1] !== ']';
      if (isRange) at++;
      ranges.push([low, isRange ? escaped() : low]);
    }
    at++;
    return { kind: 'class', negated, ranges };
  }

  function escaped(): number {
    const character = taken();
    if (character !== '\\') return character.codePointAt(0) ?? 0;
    const sign = characters[at++] ?? '';
    const digits = { x: 2, u: 4, U: 8 }[sign];
    if (digits !== undefined) {
      at += digits;
      return Number.parseInt(characters.slice(at - digits, at).join(''), 16);
    }
    const plain = { n: '\n', r: '\r', t: '\t', '\\': '\\', '"': '"', '[': '[', ']': ']' }[sign];
    if (plain === undefined) throw new Error(`unknown escape \\${sign}`);
    return plain.codePointAt(0) ?? 0;
  }

  const whole = choice();
  if (at < characters.length) throw new Error(`unexpected ${peek()} in ${body}`);
  return whole;
}
