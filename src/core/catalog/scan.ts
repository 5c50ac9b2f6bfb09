/**
 * Flags parts of a tool's texts that do not describe it, for the operator to read; flags block nothing. Structural signs
 * come first: hidden characters, names of other tools, markup of prompts. Suspicious sentences are in `scan.json`, by
 * language. Each expression reads a text once and matches within one sentence, so the work is linear.
 */
import { z } from 'zod';
import { oncePer } from '../kept.js';
import { oneLine } from '../visible-text.js';
import DATA from './scan.json' with { type: 'json' };
import { namesOf, proseOf, type Text } from './texts.js';
import type { Tool } from './tool.js';

export const flagSchema = z.object({
  kind: z.enum(['hidden', 'other-tool', 'markup', 'instruction', 'pushing']),
  where: z.string().describe('Field of the tool, as a path.'),
  excerpt: z.string().describe('At most 120 characters around what was found; empty for hidden characters.'),
  reason: z.string(),
});
export type Flag = z.infer<typeof flagSchema>;

interface ScannedTool {
  readonly tool: Tool;
  readonly flags: readonly Flag[];
}

type Finding = Known & { readonly at: number; readonly length: number };
type Known = Pick<Flag, 'kind' | 'reason'>;
type Finder = (text: string) => Finding[];

const MAX_EXCERPT = 120;
const GAP = '[^.!?。！？\\n]{0,40}?';

/** Text of one tool beyond this is flagged but not scanned, so that no tool delays the others. */
export const MAX_CHARACTERS = 100_000;

/** The flagged tools, in order. @example scanTools(tools).map(({ tool, flags }) => `${tool.name}: ${flags[0]?.reason}`) */
export function scanTools(tools: readonly Tool[]): ScannedTool[] {
  const scan = createScan(tools);
  return tools.map((tool) => ({ tool, flags: scan(tool) })).filter(({ flags }) => flags.length > 0);
}

/** @param among the tools whose names are known. @returns a scan of one tool, so that callers can pause between tools */
export function createScan(among: readonly Tool[]): (tool: Tool) => Flag[] {
  const owners = ownersOfNames(among);
  return (tool) => {
    const finders = [...FINDERS, findOtherTools(tool, owners)];
    const [prose, names] = [proseOf(tool), namesOf(tool)];
    const size = [...prose, ...names].reduce((sum, { text }) => sum + text.length, 0);
    if (size > MAX_CHARACTERS) return [...hiddenIn(tool), { ...TOO_LONG, excerpt: `${size} characters` }];
    return [...hiddenIn(tool), ...flagsInAll(prose, finders), ...flagsInAll(names, FINDERS)];
  };
}

/** More flagged texts of a tool tell nothing new. */
const MAX_FLAGGED = 50;

function flagsInAll(texts: readonly Text[], finders: readonly Finder[]): Flag[] {
  return [...suspectsAmong(texts, finders)].slice(0, MAX_FLAGGED).flatMap((text) => flagsIn(text, finders));
}

/** No sentence goes on behind it. */
const BREAK = '\n\n';

/** The texts that may have a finding. All are read as one text: to begin anew with each of thousands takes long. */
export function suspectsAmong(texts: readonly Text[], finders: readonly Finder[] = FINDERS): ReadonlySet<Text> {
  const joined = texts.map(({ text }) => text).join(BREAK);
  const found = finders.flatMap((find) => find(joined));
  const marks = found.flatMap(({ at, length }) => [at + joined.slice(at).search(/\S/u), at + length - 1]);
  marks.sort((one, other) => other - one);
  let end = 0;
  const isMarked = ({ text }: Text) => {
    const before = marks.length;
    end += text.length + BREAK.length;
    while ((marks.at(-1) ?? end) < end) marks.pop();
    return marks.length < before;
  };
  return new Set(texts.filter(isMarked));
}

/** Where a text addresses the model instead of describing its tool. A role label ends the sentence before it. */
export function flaggedParts(text: string): { start: number; end: number }[] {
  return FINDERS.flatMap((find) => find(text)).map(({ at, length }) => {
    const mark = /^[\s.!?\]]*/u.exec(text.slice(at, at + length))?.[0].length ?? 0;
    return { start: at + mark, end: at + length };
  });
}

const TOO_LONG = {
  kind: 'hidden',
  where: 'all texts',
  reason: `more than ${MAX_CHARACTERS} characters: too many to read, so they were not scanned`,
} as const;

/** `pushing in description: it pushes itself before other tools: "Always use this first."` */
export function renderFlag({ kind, where, excerpt, reason }: Flag): string {
  return `${kind} in ${where}: ${reason}${excerpt === '' ? '' : `: ${JSON.stringify(excerpt)}`}`;
}

function flagsIn({ where, text }: Text, finders: readonly Finder[]): Flag[] {
  const found = finders.flatMap((find) => find(text));
  const first = new Map(found.map((one) => [`${one.kind} ${one.reason}`, one]));
  return [...first.values()].map(({ kind, reason, at, length }) => {
    const start = Math.max(0, at - Math.max(0, Math.floor((MAX_EXCERPT - length) / 2)));
    return { kind, where, excerpt: oneLine(text.slice(start, start + MAX_EXCERPT)), reason };
  });
}

function hiddenIn({ hidden = [] }: Tool): Flag[] {
  const reason = 'hidden characters were taken out: a model would have read what people can not see';
  return hidden.map((where) => ({ kind: 'hidden', where, excerpt: '', reason }));
}

const WORD = /\p{L}+/gu;

function findMixed(text: string): Finding[] {
  if (!/\p{Script=Cyrillic}/u.test(text)) return [];
  const isMixed = (word: string) => /\p{Script=Cyrillic}/u.test(word) && /\p{Script=Latin}/u.test(word);
  const reason = 'a word mixes letters of two scripts that look alike';
  return matchesOf(text, WORD, { kind: 'hidden', reason }).filter(({ at, length }) =>
    isMixed(text.slice(at, at + length)),
  );
}

/** Texts that people can't read: base64, and characters by their numbers. */
const ENCODED = /[A-Za-z\d+/]{24,}={0,2}|(?:&#x?[\dA-Fa-f]{1,6};){6,}/gu;
/** So much of a run of base64 tells whether people could read what it encodes. A multiple of four. */
const MAX_DECODED = 400;

function findEncoded(text: string): Finding[] {
  const isReadable = (part: string) => /^[\t\n\x20-\x7E]*$/u.test(part) && /[a-z] /iu.test(part);
  const decoded = (part: string) => Buffer.from(part, 'base64').toString('latin1');
  const reason = 'a text is encoded, so that people can not read it';
  return matchesOf(text, ENCODED, { kind: 'hidden', reason }).filter(
    ({ at, length }) => text[at] === '&' || isReadable(decoded(text.slice(at, at + Math.min(length, MAX_DECODED)))),
  );
}

const NAME = /[\p{L}\p{N}]+(?:[_-]+[\p{L}\p{N}]+)*/gu;
/** Several words joined as identifiers are, which prose does not do. */
const JOINED = /[_-]|\p{Ll}\p{Lu}/u;
const SURELY_JOINED = /_|^\p{Ll}.*\p{Lu}/u;

function nameKey(name: string): string {
  return name.replace(/[_-]/gu, '').toLowerCase();
}

type Owners = ReadonlyMap<string, ReadonlySet<string>>;

/** Maps names and their keys to the origins of such tools, both under the name here and the server's own name. */
function ownersOfNames(tools: readonly Tool[]): Owners {
  const owners = new Map<string, Set<string>>();
  for (const { name, metadata, origin } of tools)
    for (const one of new Set([name, Object(metadata.mcp).tool ?? name]))
      if (typeof one === 'string')
        for (const key of new Set([one, nameKey(one)])) owners.set(key, (owners.get(key) ?? new Set()).add(origin));
  return owners;
}

/** `the send_email tool`: what follows an identifier that is a tool's name. */
const CALLED = new RegExp(`^["'\`]?\\s{0,3}(?:${DATA.tool.join('|')})(?!\\p{L})`, 'iu');

/** Finds names of tools from other sources only: mentions of tools from the same source are normal. */
function findOtherTools({ origin }: Tool, owners: Owners): Finder {
  return (text) => {
    const found: Finding[] = [];
    for (const { 0: name, index: at } of text.matchAll(NAME)) {
      if (!JOINED.test(name) || owners.get(nameKey(name))?.has(origin)) continue;
      const end = at + name.length;
      const known = { kind: 'other-tool', at, length: name.length } as const;
      if (owners.has(name)) found.push({ ...known, reason: `it names the tool "${name}" of another source` });
      else if (SURELY_JOINED.test(name) && CALLED.test(text.slice(end, end + 12)))
        found.push({ ...known, reason: `it names a tool "${name}" that its own source has not` });
    }
    return found;
  };
}

const ROLE = DATA.roles.join('|');
/** `SYSTEM:`, `[SYSTEM DIRECTIVE]`, `### NEW SYSTEM MESSAGE`: a heading in capitals, or a role alone. */
const LABEL = new RegExp(
  `(?:^|[\\n.!?\\]]\\s{0,9}|[[{(<#*]\\s{0,9})(?<label>(?:\\p{L}{1,20}[ \\t]){0,3}(?:${ROLE})(?:[ \\t]\\p{L}{1,20}){0,3})\\s{0,9}[:\\]}>#]`,
  'giu',
);
/** Tokens of chat templates; comments, which people often do not see; code fences that name a role. */
const PSEUDO = new RegExp(
  `<\\|\\w{1,40}\\|>|<{1,2}/?SYS>{1,2}|\\[/?INST\\]|<!--[^>]{0,400}-->|\`\`\`(?:${ROLE})(?!\\p{L})`,
  'giu',
);
const TAG = /<(?<end>\/?)(?<name>\p{L}[\p{L}\p{N}_:-]{0,40})>/gu;
const MIN_WORDS_OF_ELEMENT = 6;

function findLabels(text: string): Finding[] {
  const known = { kind: 'markup', reason: 'it speaks in the name of a part of the prompt' } as const;
  return [...unaccented(text).matchAll(LABEL)].flatMap(({ 0: part, index, groups }) => {
    const label = groups?.label ?? '';
    const isRoleAlone = DATA.roles.includes(label.toLowerCase());
    return isRoleAlone || label === label.toUpperCase() ? [{ ...known, at: index, length: part.length }] : [];
  });
}

function findPseudo(text: string): Finding[] {
  return matchesOf(text, PSEUDO, { kind: 'markup', reason: 'it has markup of a prompt, or what people are not shown' });
}

function findElements(text: string): Finding[] {
  const open = new Map<string, number>();
  return [...text.matchAll(TAG)].flatMap(({ 0: tag, index, groups }): Finding[] => {
    const { end = '', name = '' } = groups ?? {};
    if (end === '') open.set(name, index + tag.length);
    const start = open.get(name);
    if (end === '' || start === undefined) return [];
    open.delete(name);
    const words = text.slice(start, Math.min(index, start + 200)).match(WORD) ?? [];
    // Nested elements are a page, whose words are further inside.
    if (words.length < MIN_WORDS_OF_ELEMENT || /^\s*</u.test(text.slice(start, start + 40))) return [];
    return [
      { kind: 'markup', reason: `an element <${name}> sets sentences apart`, at: start - tag.length, length: 40 },
    ];
  });
}

const QUOTED =
  /(?<![\p{L}\p{N}])(?:'[^'\n]{1,80}'|"[^"\n]{1,80}"|`[^`\n]{1,80}`|‘[^’\n]{1,80}’|“[^”\n]{1,80}”)(?!\p{L})/gu;

const OPENED = new RegExp(`(?:^|[\\n.!?:;,。！？，；(>\\]*-]|(?:^|[^\\p{L}])(?:${DATA.openers.join('|')}))\\s*$`, 'u');
const BEFORE = 24;

/** Compiled at the first text, since that takes longer than all else that a process needs to start. */
const sentencesOf = oncePer(({ sentences }: typeof DATA) =>
  sentences.map(({ kind, reason, opens = false, parts }) => ({
    known: { kind: flagSchema.shape.kind.parse(kind), reason },
    opens,
    pattern: new RegExp(
      parts
        .map((words, place) => `(?:${words.map((one) => toPattern(one, opens && place === 0)).join('|')})`)
        .join(GAP),
      'gu',
    ),
    /** Every matching sentence has one of these: looking for them first is quick. */
    needed: new RegExp((parts.at(-1) ?? []).map(toLiteral).join('|'), 'u'),
  })),
);

/** A line break inside a sentence: neither a blank line nor a list item follows. */
const WRAPPED = /\n(?![ \t]*[\n*•-])/gu;

function findSentences(text: string): Finding[] {
  const said = plain(text)
    .replace(WRAPPED, ' ')
    .replace(QUOTED, (quoted) => ' '.repeat(quoted.length));
  return sentencesOf(DATA).flatMap(({ known, opens, pattern, needed }) => {
    if (!needed.test(said)) return [];
    return opens ? openingMatches(said, pattern, known) : matchesOf(said, pattern, known);
  });
}

/** A match that starts in mid-sentence may overlap one that opens a sentence, so the search resumes one character on. */
function openingMatches(text: string, pattern: RegExp, known: Known): Finding[] {
  const found: Finding[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const { 0: part, index: at } = match;
    if (OPENED.test(text.slice(Math.max(0, at - BEFORE), at))) found.push({ ...known, at, length: part.length });
    else pattern.lastIndex = at + 1;
  }
  return found;
}

function toPattern(words: string, isExact: boolean): string {
  const literal = toLiteral(words);
  return /^[a-z]/u.test(words) ? `(?<!\\p{L})${literal}${isExact ? '' : '\\p{L}{0,3}'}(?!\\p{L})` : literal;
}

function toLiteral(words: string): string {
  return plain(words)
    .replace(/[.*+?^${}()|[\]\\]/gu, '\\$&')
    .replace(/ /gu, '\\s{1,9}');
}

/** Lower case without accents, of the same length as the text. */
function plain(text: string): string {
  const bare = unaccented(text);
  const small = bare.toLowerCase();
  return small.length === bare.length ? small : bare.replace(/[A-Z]/gu, (letter) => letter.toLowerCase());
}

/** Removes accents, which must not hide a word that is looked for. The length stays. */
function unaccented(text: string): string {
  return text.replace(/\P{ASCII}/gu, (one) => {
    const bare = one.normalize('NFKD').replace(/\p{M}/gu, '');
    return bare.length === one.length ? bare : one;
  });
}

function matchesOf(text: string, pattern: RegExp, known: Known): Finding[] {
  return [...text.matchAll(pattern)].map(({ 0: part, index }) => ({ ...known, at: index, length: part.length }));
}

const FINDERS: readonly Finder[] = [findMixed, findEncoded, findLabels, findPseudo, findElements, findSentences];
