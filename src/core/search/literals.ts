/**
 * What a query quotes: paths, addresses, numbers, text in quotation marks. They are arguments of the tool that is looked
 * for, not its name: their words count little, and what kind of thing they are counts a little instead.
 */
export interface SplitQuery {
  /** The query without its literals. */
  readonly text: string;
  /** Text of the literals, which may still be the name of a tool. */
  readonly literals: readonly string[];
  /** Words for the kinds of literals, for example `file` for a path. */
  readonly kinds: readonly string[];
}

/** None starts inside of a run that it would read to its end: a long run would be read again from each of its places. */
const KINDS: readonly { form: RegExp; kind: string }[] = [
  { form: /\bhttps?:\/\/\S+/giu, kind: 'url' },
  { form: /"[^"]{1,200}"|“[^”]{1,200}”|「[^」]{1,200}」|(?<!\w)'[^']{1,200}'(?!\w)|`[^`]{1,200}`/gu, kind: '' },
  { form: /(?<!\S)\S*\*\S*/gu, kind: 'pattern' },
  { form: /(?<![\w/@*.-])(?:~|\.{0,2})\/?(?:[\w@*.-]+\/)+[\w@*.-]*/gu, kind: 'file' },
  { form: /(?<![\w/*-])[\w*-]+\.[a-z]{1,5}\b(?![\w/])/gu, kind: 'file' },
  { form: /\b(?:readme|dockerfile|makefile)\b/giu, kind: 'file' },
  { form: /#\d+\b/gu, kind: 'issue' },
  { form: /\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b/gu, kind: 'commit' },
  { form: /\b\d[\d.,:-]*\b/gu, kind: '' },
  // What happens before or after is not what is to be done: `before deleting it`, `合并之前`.
  { form: /\b(?:before|after|while|once)\s+\p{L}+ing\b/giu, kind: '' },
  { form: /(?<!\p{Script=Han})\p{Script=Han}{1,5}(?:之前|之后|以后|的时候)(?!的)/gu, kind: '' },
  // `Remember: …`, `记住：…`: a word or two say what is to be done with the rest.
  { form: /(?=\S)(?<=^\s*(?:\p{L}+\s+)?\p{L}+\s*[:：]\s*)\S.{7,}$/su, kind: '' },
];

/** The `'s` of "what's", and all of "don't": what must not happen is no word for what should. */
const CONTRACTIONS = /\b\p{L}{1,20}n['’]t\b|['’](?:s|re|ve|ll|d|m)\b/giu;
const NEGATED = /\b(?:instead of|rather than|no need to)\s+\p{L}+|别(?![名的人处])\p{Script=Han}/giu;

export function splitLiterals(query: string): SplitQuery {
  const literals: string[] = [];
  const kinds = new Set<string>();
  let text = query.replace(CONTRACTIONS, ' ').replace(NEGATED, ' ');
  for (const { form, kind } of KINDS) {
    text = text.replace(form, (found) => {
      literals.push(found);
      if (kind !== '') kinds.add(kind);
      return ' ';
    });
  }
  return { text, literals, kinds: [...kinds] };
}
