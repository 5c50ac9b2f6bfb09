/**
 * What the list, the filters and the charts need of a case: a few hundred bytes, held for all cases at once; the case
 * itself is read when it is opened. A block is written by columns, its repeated words once.
 */
import { sumUsage } from '../../core/model/model.js';
import type { SelectedTool } from '../../core/result.js';
import type { CaseRecord } from '../record.js';

/** `unjudged`: of a selection that was skipped, for example, it cannot be said where nothing fits. */
export type CaseState = 'right' | 'wrong' | 'unjudged' | 'error';

/** A number in place of a word stands for its place in `words`; -1: none. */
export interface IndexBlock {
  readonly words: string[];
  readonly id: string[];
  readonly repeat: number[];
  readonly query: string[];
  readonly state: number[];
  readonly suite: number[];
  readonly lang: number[];
  /** Kind of the result; none where only selection was asked for. */
  readonly kind: number[];
  /** Mode of the selection. */
  readonly mode: number[];
  /** Of an error: its code. */
  readonly cause: number[];
  readonly tags: number[][];
  /** The needed tools: of several accepted sets the one that the case came nearest to. */
  readonly expected: number[][];
  /** The tools handed on, in order: name, via, name, via, … */
  readonly got: number[][];
  /** Name of a score -> its column. */
  readonly scores: Record<string, (number | null)[]>;
  /** Tokens of both stages. */
  readonly read: number[];
  readonly cached: number[];
  readonly written: number[];
  /** Schema tokens. */
  readonly loaded: number[];
  readonly milliseconds: number[];
  readonly cost: (number | null)[];
  /** Place of the whole case: block of cases, line in it. */
  readonly place: [number, number][];
}

export interface IndexBuilder {
  readonly size: number;
  add(record: CaseRecord, place: [number, number]): void;
  /** The block so far; the builder begins a new one. */
  take(): IndexBlock;
}

export function createIndexBuilder(): IndexBuilder {
  let block = emptyBlock();
  let numbers = new Map<string, number>();

  function numberOf(word: string | undefined): number {
    if (word === undefined) return -1;
    const known = numbers.get(word);
    if (known !== undefined) return known;
    numbers.set(word, block.words.length);
    return block.words.push(word) - 1;
  }

  function addScores(scores: CaseRecord['scores']): void {
    const row = block.id.length - 1;
    for (const name of Object.keys(scores)) block.scores[name] ??= Array.from({ length: row }, () => null);
    for (const [name, column] of Object.entries(block.scores)) column.push(round(scores[name]));
  }

  return {
    get size() {
      return block.id.length;
    },
    add(record, place) {
      const { selection, planning, schemaTokens } = record.usage;
      const { read, cached, written } = sumUsage(selection, planning);
      const got = record.selection?.tools ?? [];
      block.id.push(record.id);
      block.repeat.push(record.repeat);
      block.query.push(record.query);
      block.state.push(numberOf(stateOf(record)));
      block.suite.push(numberOf(record.suite));
      block.lang.push(numberOf(record.lang));
      block.kind.push(numberOf(record.result?.kind));
      block.mode.push(numberOf(record.selection?.mode));
      block.cause.push(numberOf(record.error?.code ?? record.cause));
      block.tags.push(record.tags.map(numberOf));
      block.expected.push(nearestExpected(record.expected, got).map(numberOf));
      block.got.push(got.flatMap(({ name, via }) => [numberOf(name), numberOf(via)]));
      block.read.push(read);
      block.cached.push(cached);
      block.written.push(written);
      block.loaded.push(schemaTokens.loaded);
      block.milliseconds.push(Math.round(record.milliseconds.total));
      block.cost.push(record.cost ?? null);
      block.place.push(place);
      addScores(record.scores);
    },
    take() {
      const full = block;
      block = emptyBlock();
      numbers = new Map();
      return full;
    },
  };
}

/** An error is no wrong answer: the server, or Winnow, gave none. */
export function stateOf({ outcome, scores }: Pick<CaseRecord, 'outcome' | 'scores'>): CaseState {
  if (outcome === 'error') return 'error';
  if (typeof scores.right !== 'number') return 'unjudged';
  return scores.right === 1 ? 'right' : 'wrong';
}

/** Of the accepted sets the one of which the largest part was handed on; the first where several are as near. */
function nearestExpected(
  { tools, alternatives = [] }: CaseRecord['expected'],
  got: readonly SelectedTool[],
): readonly string[] {
  const names = new Set(got.map(({ name }) => name));
  const shareOf = (set: readonly string[]) =>
    set.length === 0 ? Number(names.size === 0) : set.filter((name) => names.has(name)).length / set.length;
  return alternatives.reduce<readonly string[]>((best, set) => (shareOf(set) > shareOf(best) ? set : best), tools);
}

/** Four digits are more than a chart or a table shows. */
function round(score: number | null | undefined): number | null {
  return score === null || score === undefined ? null : Math.round(score * 10_000) / 10_000;
}

function emptyBlock(): IndexBlock {
  return {
    words: [],
    id: [],
    repeat: [],
    query: [],
    state: [],
    suite: [],
    lang: [],
    kind: [],
    mode: [],
    cause: [],
    tags: [],
    expected: [],
    got: [],
    scores: {},
    read: [],
    cached: [],
    written: [],
    loaded: [],
    milliseconds: [],
    cost: [],
    place: [],
  };
}
