/**
 * A query -> units of meaning: each word or known phrase once, with all that it may mean in the words of the tools. What
 * a unit means is decided without the tools; which of it they know, when it is ranked.
 */
import { splitLiterals } from './literals.js';
import type { Meaning } from './phrases.js';
import { stemOf } from './stem.js';
import { type SynonymTable, withoutArticles } from './synonyms.js';
import { isStopWord, segmentWords, splitIdentifier } from './words.js';

export interface Unit {
  /** As it stands in the query. */
  readonly text: string;
  /** How much it says about the tool: 1 for a word, more for a phrase, less for what stands in every query. */
  readonly importance: number;
  /** The unit itself, as terms of which each counts by itself. */
  readonly own: readonly string[];
  /** The words together, where some tool has them so among its keywords or aliases. */
  readonly phrase?: string | undefined;
  /** What it stands for: by a synonym each. */
  readonly synonyms: readonly Meaning[];
}

/** Words that a request for a tool holds whatever the tool does. */
const FILLERS = new Set(
  `please pls help want need use using tool tools make something thing stuff now right any all got also via current
  currently some want wanna gonna lets able way specific given certain new one two ones each every no not only really just so if
  every try trying thanks hey hi ok about after before during while within without through across over under between both more
  most other another same such very too out up down off here again still yet already first next last my me us get do go give take
  这个 那个 这些 那些 一个 一下 一份 一条 一些 一遍 需要 想 想要 要 能 能否 可以 工具 用 使用 帮我 给我 我想 我要 里 里面 上 下 中 到 从 对 为 以 并 或 所有 所有的 全部 哪个 哪里 在哪 吗 呢 吧 啊 了 的 地 得 个 是否 有没有 没有 现在 当前 目前 进行 一 把 来 去 它 这 那 谁 都 也 就 还 再 又`
    .split(/\s+/u)
    .filter(Boolean)
    .map(stemOf),
);
/** They decide only between tools that are equal else. */
const FILLER_IMPORTANCE = 0.1;
/** What is worked on, whatever is done: rare in the words of tools and common in those of requests. */
const COMMON = new Set(
  `code function method class variable file document project repository repo codebase workspace program app application
  module source text line name value data content item list object element part type number information info detail
  代码 源码 函数 方法 类 变量 文件 文档 项目 仓库 工程 程序 应用 模块 内容 名 名字 名称 值 数据 信息 行 类型`
    .split(/\s+/u)
    .filter(Boolean)
    .map(stemOf),
);
const COMMON_IMPORTANCE = 0.6;
/** How a question is put hints at what is to be done; what it is about says more. */
const QUESTION_WORDS = new Set('哪些 有哪些 什么 有什么 都有什么 都有哪些 哪 怎么'.split(' '));
const QUESTION_IMPORTANCE = 0.4;
/** A phrase with other words in between may be one by chance. */
const SPLIT_IMPORTANCE = 0.8;
const LITERAL_IMPORTANCE = 0.25;
const KIND_IMPORTANCE = 0.15;
/** Letters of a Chinese word; a longer known phrase says as much as the words it is made of. */
const CJK_WORD = 2;
/** Words of a keyword that is looked up as one. */
const MAX_KEY_PHRASE = 4;
/** More words say no more, and cost time; a query is a line, not a page. */
const MAX_UNITS = 40;

const CJK_RUN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu;

/** What words together mean, besides what each does. */
export interface Phrasebook {
  readonly synonyms: SynonymTable;
  /** Whether a visible tool has these stems as one of its keywords or aliases, a blank between them. */
  isKeyPhrase(phrase: string): boolean;
}

export function parseQuery(query: string, book: Phrasebook): Unit[] {
  const { text, literals, kinds } = splitLiterals(query);
  const units = [
    ...unitsOf(text, book),
    ...literals.flatMap((literal) => unitsOf(literal, book)).map((unit) => scaled(unit, LITERAL_IMPORTANCE)),
    ...kinds.flatMap((kind) => unitsOf(kind, book)).map((unit) => scaled(unit, KIND_IMPORTANCE)),
  ];
  const byText = new Map<string, Unit>();
  for (const unit of units) {
    const known = byText.get(unit.own.join(' '));
    if (!known || known.importance < unit.importance) byText.set(unit.own.join(' '), unit);
  }
  return [...byText.values()].slice(0, MAX_UNITS);
}

function scaled(unit: Unit, share: number): Unit {
  return { ...unit, importance: unit.importance * share };
}

function unitsOf(text: string, book: Phrasebook): Unit[] {
  const units: Unit[] = [];
  let start = 0;
  for (const run of text.matchAll(CJK_RUN)) {
    units.push(...latinUnits(text.slice(start, run.index), book), ...cjkUnits(run[0], book));
    start = run.index + run[0].length;
  }
  return [...units, ...latinUnits(text.slice(start), book)];
}

/** Known phrases first, since `who wrote` is more than its words; else word by word, without what says nothing. */
function latinUnits(text: string, book: Phrasebook): Unit[] {
  const words = withoutArticles(splitIdentifier(text));
  const tokens = words.map(stemOf);
  const units: Unit[] = [];
  for (let place = 0; place < tokens.length; ) {
    const known = book.synonyms.phraseAt(tokens, place);
    const keyLength = keyPhraseLength(tokens, place, book);
    const length = Math.max(known?.length ?? 1, keyLength);
    const synonyms = known?.length === length ? known.meanings : [];
    const own = tokens.slice(place, place + length);
    const shown = words.slice(place, place + length);
    const said = shown.filter((word) => !isStopWord(word)).length;
    if (length > 1 || said > 0) {
      const phrase = keyLength === length && length > 1 ? own.join(' ') : undefined;
      const importance = importanceOf(own) * Math.max(1, said);
      units.push({ text: shown.join(' '), importance, own, phrase, synonyms });
    }
    units.push(...splitUnits({ words, tokens }, place, book));
    place += length;
  }
  return units;
}

/** Known phrases with other words in between; those words count by themselves, so this is said besides. */
function splitUnits(
  { words, tokens }: { words: readonly string[]; tokens: readonly string[] },
  place: number,
  { synonyms }: Phrasebook,
): Unit[] {
  return synonyms.splitPhrasesAt(tokens, place).map(({ tokens: own, places, meanings }) => ({
    text: places.map((one) => words[one]).join(' … '),
    importance: SPLIT_IMPORTANCE,
    own,
    synonyms: meanings,
  }));
}

/** Of the longest keyword or alias of several words that begins here; else 1. */
function keyPhraseLength(tokens: readonly string[], place: number, book: Phrasebook): number {
  for (let length = Math.min(MAX_KEY_PHRASE, tokens.length - place); length > 1; length--) {
    if (book.isKeyPhrase(tokens.slice(place, place + length).join(' '))) return length;
  }
  return 1;
}

/** Without spaces between words, the longest known ones are taken first and the segmenter cuts what is left. */
function cjkUnits(run: string, { synonyms }: Phrasebook): Unit[] {
  const units: Unit[] = [];
  let unknown = '';
  const flush = () => {
    units.push(...segmentWords(unknown).flatMap((word) => cjkUnit(word, synonyms)));
    unknown = '';
  };
  for (let place = 0; place < run.length; ) {
    const known = synonyms.wordAt(run, place);
    // One letter is a word of its own only where the segmenter says so: it stands in a hundred others.
    if (!known || known.length === 1) {
      unknown += run[place];
      place += 1;
      continue;
    }
    flush();
    units.push(...cjkUnit(run.slice(place, place + known.length), synonyms));
    place += known.length;
  }
  flush();
  return units;
}

function cjkUnit(text: string, synonyms: SynonymTable): Unit[] {
  if (isStopWord(text)) return [];
  const known = synonyms.wordAt(text, 0);
  const meanings = known?.length === text.length ? known.meanings : [];
  const importance = importanceOf([text]) * Math.max(1, text.length / CJK_WORD);
  return [{ text, importance, own: segmentWords(text), synonyms: meanings }];
}

function importanceOf(own: readonly string[]): number {
  if (own.every((term) => FILLERS.has(term) || /^[a-z]$/u.test(term))) return FILLER_IMPORTANCE;
  if (own.every((term) => QUESTION_WORDS.has(term))) return QUESTION_IMPORTANCE;
  return own.every((term) => COMMON.has(term)) ? COMMON_IMPORTANCE : 1;
}
