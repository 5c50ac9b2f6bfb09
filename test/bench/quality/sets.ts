/**
 * The sets of cases, in the order in which they are measured: those that the bars name come first, further forms of the same
 * cases last.
 */
import type { Catalog } from '../../../src/core/catalog/catalog.js';
import type { EvaluationCase } from '../../../src/eval/case.js';

export interface SetMeaning {
  readonly title: string;
  /** `select`: the tools handed on are judged; `plan`: the steps of the plan, too. */
  readonly judged: 'select' | 'plan';
  /** Each case sees its own candidates among at least so many others. Absent, as `given` is: the whole catalogue. */
  readonly others?: number;
  /** Each case sees the needed tools and others, so many in all: planning is judged alone. */
  readonly given?: number;
  /** No tool fits: Winnow tells that when it plans, whoever binds tools when it calls none. */
  readonly isUnfit?: true;
  /** Of a fixture the catalogue with its rules is used. */
  readonly isFixture?: true;
  /** Name of its files, where it is not its own; sets of the same files draw the same sample. */
  readonly files?: string;
}

export const SETS: Readonly<Record<string, SetMeaning>> = {
  restbench: { title: 'RestBench', judged: 'select' },
  metatool: { title: 'MetaTool', judged: 'select' },
  hydrology: { title: 'fixture hydrology', judged: 'select', isFixture: true },
  'coding-agent': { title: 'fixture coding-agent', judged: 'select', isFixture: true },
  assistant: { title: 'fixture assistant', judged: 'select', isFixture: true },
  bfcl: { title: 'BFCL, candidates + 50', judged: 'select', others: 50 },
  irrelevance: { title: 'BFCL irrelevance', judged: 'select', isUnfit: true, others: 0, files: 'bfcl_irrelevance' },
  acebench: { title: 'ACEBench Chinese, candidates + 50', judged: 'select', others: 50, files: 'acebench_zh' },
  stabletoolbench: { title: 'StableToolBench', judged: 'select' },
  nestful: { title: 'NESTFUL', judged: 'plan' },
  irrelevance50: {
    title: 'BFCL irrelevance + 50',
    judged: 'select',
    isUnfit: true,
    others: 50,
    files: 'bfcl_irrelevance',
  },
  'nestful-given': { title: 'NESTFUL, the needed tools given among 8', judged: 'plan', given: 8, files: 'nestful' },
  'bfcl-given': { title: 'BFCL, the needed tools given among 8', judged: 'plan', given: 8, files: 'bfcl' },
  'acebench-given': {
    title: 'ACEBench Chinese, the needed tools given among 8',
    judged: 'plan',
    given: 8,
    files: 'acebench_zh',
  },
};

export interface QualitySet extends SetMeaning {
  readonly id: string;
  readonly cases: readonly EvaluationCase[];
  /** What one case sees, before private tools are taken away. The same object for cases that see the same. */
  catalogFor(one: EvaluationCase): Catalog;
  /** What people should know of the files. */
  readonly notices: readonly string[];
}
