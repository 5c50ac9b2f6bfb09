/** The rules of a grammar under construction: equal bodies share one rule, names are short and in order of use. */

/** Rule bodies that do not depend on the schema; a rule is in the grammar only when it is used. */
const SHARED: Readonly<Record<string, string>> = {
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
  /** The name of a rule with this body: an old one where there is one. An atom needs no rule and comes back. */
  define(body: string): string;
  /** A rule that may refer to itself: its name, before its body is known. */
  reserve(): string;
  fill(name: string, body: string): void;
  /** The name of a shared rule, which is now part of the grammar, with all that it uses. */
  shared(name: string): string;
  render(root: string): string;
}

export function createGrammarRules(): GrammarRules {
  const bodies = new Map<string, string>();
  const names = new Map<string, string>();
  let count = 0;
  const rules: GrammarRules = {
    define(body) {
      if (/^[a-z][a-z0-9]*$/.test(body)) return body;
      const known = names.get(body);
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
      for (const word of withoutLiterals(body).match(/[a-z]+/g) ?? []) if (word in SHARED) rules.shared(word);
      return name;
    },
    render: (root) => [`root ::= ${root}`, ...[...bodies].map(([name, body]) => `${name} ::= ${body}`), ''].join('\n'),
  };
  return rules;
}

function withoutLiterals(body: string): string {
  return body.replace(/"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]/g, ' ');
}

/** The text itself, as a literal. */
export function literal(text: string): string {
  const escaped = text
    .replace(/["\\]/g, String.raw`\$&`)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\r', String.raw`\r`);
  return `"${escaped}"`;
}

/** The value as compact JSON, as a literal. */
export function jsonLiteral(value: unknown): string {
  return literal(JSON.stringify(value) ?? 'null');
}

export function alternatives(expressions: readonly string[]): string {
  return [...new Set(expressions)].join(' | ');
}
