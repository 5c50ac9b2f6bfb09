/** The rules of a grammar under construction: equal bodies share one rule, and names are short. */

/** Rules that no schema changes. One is in the grammar only where it is used. */
const SHARED: Readonly<Record<string, string>> = {
  any: 'str | num | bool | "null" | map | list',
  map: '"{" (str ":" any ("," str ":" any)*)? "}"',
  list: '"[" (any ("," any)*)? "]"',
  chr: String.raw`[^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4})`,
  str: String.raw`"\"" chr* "\""`,
  // Bounds keep a small model from writing digits without end; they hold every number of JSON.stringify.
  nat: '"0" | [1-9] [0-9]{0,20}',
  int: '"-"? nat',
  frac: '("." [0-9]{1,25})? ([eE] [+-]? [0-9]{1,3})?',
  num: 'int frac',
  pnum: 'nat frac',
  bool: '"true" | "false"',
  year: '[0-9]{4} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | [12] [0-9] | "3" [01])',
  clock: '([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] (":" [0-5] [0-9] ("." [0-9]{1,9})?)? zone?',
  zone: '"Z" | [+-] ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9]',
  date: String.raw`"\"" year "\""`,
  time: String.raw`"\"" clock "\""`,
  moment: String.raw`"\"" year "T" clock "\""`,
};

export interface GrammarRules {
  /** The name of a rule with this body: an old one where there is one. A name alone needs no rule and comes back. */
  define(body: string): string;
  /** The name of a rule that may refer to itself, before its body is known. */
  reserve(): string;
  fill(name: string, body: string): void;
  /** Puts a shared rule into the grammar, with all that it uses, and gives its name back. */
  shared(name: string): string;
  render(root: string): string;
}

export function createGrammarRules(): GrammarRules {
  const bodies = new Map<string, string>();
  const names = new Map<string, string>();
  let count = 0;
  const rules: GrammarRules = {
    define(body) {
      const known = /^[a-z][a-z0-9]*$/u.test(body) ? body : names.get(body);
      if (known !== undefined) return known;
      const name = rules.reserve();
      names.set(body, name);
      bodies.set(name, body);
      return name;
    },
    reserve: () => `r${++count}`,
    fill: (name, body) => void bodies.set(name, body),
    shared(name) {
      const body = SHARED[name];
      if (body === undefined || bodies.has(name)) return name;
      bodies.set(name, body);
      const words = body.replace(/"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]/gu, ' ').match(/[a-z]+/gu) ?? [];
      for (const word of words) rules.shared(word);
      return name;
    },
    render: (root) => [`root ::= ${root}`, ...[...bodies].map(([name, body]) => `${name} ::= ${body}`), ''].join('\n'),
  };
  return rules;
}

/** A text as a literal of the grammar. */
export function literal(text: string): string {
  const escaped = text.replace(/["\\]/gu, String.raw`\$&`).replaceAll('\n', String.raw`\n`);
  return `"${escaped.replaceAll('\r', String.raw`\r`)}"`;
}

/** A value as a literal of its compact JSON. */
export function jsonLiteral(value: unknown): string {
  return literal(JSON.stringify(value) ?? 'null');
}

export function alternatives(expressions: readonly string[]): string {
  return [...new Set(expressions)].join(' | ');
}
