/**
 * A `pattern` of JSON Schema -> a llama.cpp grammar of the JSON texts whose value it matches, for the regular part of
 * ECMAScript: lookaround, back-references, word boundaries and Unicode properties are outside of it.
 */
import { type AST, RegExpParser, RegExpSyntaxError } from '@eslint-community/regexpp';
import {
  type CodePointSet,
  codePointSet,
  complementOf,
  DIGITS,
  LINE_ENDS,
  renderCodePoint,
  SPACES,
  WORD_CHARACTERS,
} from './code-point-set.js';
import { type Count, repetition } from './gbnf-collections.js';
import { choice, group, literalPart, NOTHING, type Part, part, sequence } from './gbnf-part.js';
import type { GrammarRules } from './gbnf-rules.js';

export interface PatternOptions {
  rules: GrammarRules;
  /** Most copies of one part, nested counts multiplied: llama.cpp writes every count out. */
  maxRepeat: number;
  /** Length of the text in code points, where the schema bounds it. */
  length: Count;
}

export interface PatternBody {
  /** An expression of the whole JSON text, with its quotes. */
  readonly body: string;
  /** Whether just the texts that the pattern matches are written. Else a count above `maxRepeat` has no end here. */
  readonly isExact: boolean;
  /** Whether the length is kept to as well: where the pattern is a run of one kind of character. */
  readonly keepsLength: boolean;
}

/** `undefined` for what is outside of the regular part, and where even the least count is above `maxRepeat`. */
export function patternBody(pattern: string, options: PatternOptions): PatternBody | undefined {
  try {
    const tree = new RegExpParser({ ecmaVersion: 2025 }).parsePattern(pattern, 0, pattern.length, { unicode: true });
    const build: Build = { ...options, isExact: true };
    const run = runOf(tree);
    const inner = run ? repeated(run, build, { copies: 1, length: options.length }) : choiceOf(tree, build, WHOLE);
    const { text } = sequence([literalPart('"'), inner, literalPart('"')]);
    return { body: text, isExact: build.isExact, keepsLength: run !== undefined };
  } catch (error) {
    // RangeError: nested too deeply to be walked.
    if (error instanceof OutsideError || error instanceof RegExpSyntaxError || error instanceof RangeError)
      return undefined;
    throw error;
  }
}

class OutsideError extends Error {}

interface Build extends PatternOptions {
  isExact: boolean;
}

/**
 * What an end of a part means for the text. `open`: anything may stand beyond it, unless an anchor says otherwise;
 * `closed`: it is the end of the text; `inside`: something else stands there, and an anchor would never match.
 */
type Edge = 'open' | 'closed' | 'inside';

interface Place {
  readonly start: Edge;
  readonly end: Edge;
  /** How often the counts around it write a part out. */
  readonly copies: number;
}

const WHOLE: Place = { start: 'open', end: 'open', copies: 1 };

type Group = AST.Group | AST.CapturingGroup;

function choiceOf({ alternatives }: Group | AST.Pattern, build: Build, place: Place): Part {
  return choice(alternatives.map(({ elements }) => alternativeOf(elements, build, place)));
}

/** Anchors and groups with anchors count at the two ends only; without them, any text may stand beyond an open end. */
function alternativeOf(elements: readonly AST.Element[], build: Build, place: Place): Part {
  const isAnchor = (kind: 'start' | 'end') => (element: AST.Element) =>
    element.type === 'Assertion' && element.kind === kind;
  const first = elements.findIndex((element) => !isAnchor('start')(element));
  const last = elements.findLastIndex((element) => !isAnchor('end')(element));
  const inner = first < 0 ? [] : elements.slice(first, last + 1);
  const start = anchored(place.start, first !== 0 && elements.length > 0);
  const end = anchored(place.end, last !== elements.length - 1);
  const holdsStart = hasAnchor(inner[0], 'start');
  const holdsEnd = hasAnchor(inner.at(-1), 'end');
  const parts = inner.map((element, index) =>
    partOf(element, build, {
      start: holdsStart && index === 0 ? start : 'inside',
      end: holdsEnd && index === inner.length - 1 ? end : 'inside',
      copies: place.copies,
    }),
  );
  const anything = part(`${build.rules.shared('chr')}*`, { isNullable: true });
  const before = start === 'open' && !holdsStart ? [anything] : [];
  const after = end === 'open' && !holdsEnd ? [anything] : [];
  const body = sequence(parts);
  return body.text === '' && before.length > 0 ? sequence(before) : sequence([...before, body, ...after]);
}

function anchored(edge: Edge, hasAnchorHere: boolean): Edge {
  if (!hasAnchorHere) return edge;
  if (edge === 'inside') throw new OutsideError('an anchor inside of the text');
  return 'closed';
}

function hasAnchor(element: AST.Element | undefined, kind: 'start' | 'end'): boolean {
  if (element?.type === 'Assertion') return element.kind === kind;
  if (element?.type !== 'Group' && element?.type !== 'CapturingGroup') return false;
  return element.alternatives.some(({ elements }) => elements.some((inner) => hasAnchor(inner, kind)));
}

function partOf(element: AST.Element, build: Build, place: Place): Part {
  switch (element.type) {
    case 'Character':
      return characterPart(element.value);
    case 'CharacterSet':
    case 'CharacterClass':
      return setPart(setOf(element));
    case 'Group':
      if (element.modifiers) throw new OutsideError('flags inside of the pattern');
      return choiceOf(element, build, place);
    case 'CapturingGroup':
      return choiceOf(element, build, place);
    case 'Quantifier':
      return repeated(element, build, place);
    default:
      throw new OutsideError(element.type);
  }
}

/** `^[a-z]+$` and the like: the only patterns whose length can be bounded with them. */
function runOf({ alternatives }: AST.Pattern): AST.Quantifier | undefined {
  const [start, run, end] = alternatives[0]?.elements ?? [];
  const isWhole = alternatives.length === 1 && alternatives[0]?.elements.length === 3;
  if (!isWhole || !hasAnchor(start, 'start') || start?.type !== 'Assertion') return undefined;
  if (!hasAnchor(end, 'end') || end?.type !== 'Assertion' || run?.type !== 'Quantifier') return undefined;
  return ['Character', 'CharacterSet', 'CharacterClass'].includes(run.element.type) ? run : undefined;
}

interface Repetition {
  copies: number;
  length?: Count;
}

function repeated({ element, min, max }: AST.Quantifier, build: Build, { copies, length }: Repetition): Part {
  const count = bounded({ min, max }, build, { copies, length: length ?? { least: 0, most: undefined } });
  if (count.most === 0) return NOTHING;
  if (element.type === 'Assertion') throw new OutsideError('a repeated assertion');
  const inside = copies * (count.most ?? Math.max(count.least, 1));
  const once = partOf(element, build, { start: 'inside', end: 'inside', copies: inside });
  if (once.text === '' || (count.least === 1 && count.most === 1)) return once;
  // llama.cpp would call it left recursion.
  if (count.most === undefined && once.isNullable) throw new OutsideError('an endless count of nothing');
  const sign = count.least === 0 && count.most === 1 ? '?' : repetition(count.least, count.most);
  return part(`${group(once)}${sign}`, { isNullable: count.least === 0 || once.isNullable });
}

/** The count together with the length of the text; an upper bound that is too large is left to the check of the answer. */
function bounded(
  { min, max }: { min: number; max: number },
  build: Build,
  { copies, length }: Required<Repetition>,
): Count {
  const least = Math.max(min, length.least);
  const most = Math.min(max, length.most ?? max);
  if (most < least) throw new OutsideError('a count that contradicts the length');
  if (copies * least > build.maxRepeat) throw new OutsideError('a large count');
  if (most === Number.POSITIVE_INFINITY) return { least, most: undefined };
  if (copies * most <= build.maxRepeat) return { least, most };
  build.isExact = false;
  return { least, most: undefined };
}

function setOf(element: AST.CharacterClassElement | AST.CharacterClass | AST.CharacterSet): CodePointSet {
  switch (element.type) {
    case 'Character':
      return codePointSet([element.value, element.value]);
    case 'CharacterClassRange':
      return codePointSet([element.min.value, element.max.value]);
    case 'CharacterClass': {
      const members = codePointSet(...element.elements.flatMap((member) => setOf(member)));
      return element.negate ? complementOf(members) : members;
    }
    case 'CharacterSet': {
      if (element.kind === 'any') return complementOf(LINE_ENDS);
      if (element.kind === 'property') throw new OutsideError('a Unicode property');
      const set = { digit: DIGITS, space: SPACES, word: WORD_CHARACTERS }[element.kind];
      return element.negate ? complementOf(set) : set;
    }
    default:
      throw new OutsideError(element.type);
  }
}

function setPart(set: CodePointSet): Part {
  const [range] = set;
  if (set.length === 1 && range && range[0] === range[1]) return characterPart(range[0]);
  const ways = renderCodePoint(set);
  if (ways.length === 0) throw new OutsideError('no character that can be written');
  return choice(ways.map((way) => part(way)));
}

function characterPart(codePoint: number): Part {
  if (codePoint >= 0xd800 && codePoint <= 0xdfff) throw new OutsideError('half a character');
  return literalPart(JSON.stringify(String.fromCodePoint(codePoint)).slice(1, -1));
}
