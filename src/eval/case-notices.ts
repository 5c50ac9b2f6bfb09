/**
 * What people should know of a file of cases, though it can be used: fields and names that nothing knows. Public sets
 * have such lines, so they are no errors. Only the first of them are kept, however many there are.
 */
import { subschemaAt } from '../core/catalog/schema/paths.js';
import type { Tool } from '../core/catalog/tool.js';
import type { EvaluationCase } from './case.js';
import type { Suite } from './suite.js';

export interface CaseNotices {
  /** Of any line, also of one that is not taken. */
  seeFields(unknown: readonly string[]): void;
  /** Of a case that is taken. */
  seeCase(one: EvaluationCase, line: number): void;
  /** One a line. */
  texts(): string[];
}

/** Names of tools that are told one by one. */
const MAX_TOLD = 10;

export function createCaseNotices({ caseFile: file, catalog }: Pick<Suite, 'caseFile' | 'catalog'>): CaseNotices {
  // A user's private tool may have the name of another.
  const tools = new Map<string, Tool[]>();
  for (const tool of catalog.tools) tools.set(tool.name, [...(tools.get(tool.name) ?? []), tool]);
  const fields = new Map<string, number>();
  const strangers = createList();
  const lacking = createList();
  return {
    seeFields(unknown) {
      for (const field of unknown) fields.set(field, (fields.get(field) ?? 0) + 1);
    },
    seeCase(one, line) {
      const where = `${file}:${line}`;
      for (const [field, names] of namesOf(one)) {
        const unknown = [...new Set(names)].filter((name) => !tools.has(name));
        for (const name of unknown) strangers.add(`${where} ${field}: "${name}"`);
      }
      for (const path of lackingArguments(one, tools)) lacking.add(`${where} ${path}`);
    },
    texts: () => [
      ...[...fields].map(
        ([field, count]) => `${file}: the field "${field}" is not known, and is left out of account (${count} lines)`,
      ),
      ...strangers.first().map((text) => `${text} is no tool of the catalogue "${catalog.name}"`),
      ...(strangers.count() > MAX_TOLD ? [`and ${strangers.count() - MAX_TOLD} more names that are no tools`] : []),
      ...lacking
        .first()
        .slice(0, 1)
        .map((text) => `${text} is no argument of its tool; such names in the file: ${lacking.count()}`),
    ],
  };
}

function namesOf({ expected, candidates = [] }: EvaluationCase): [field: string, names: readonly string[]][] {
  // A single tool that is as good stands among the expected ones here.
  const others = (expected.alternatives ?? []).flat().filter((name) => !expected.tools.includes(name));
  return [
    ['expectedTools', expected.tools],
    ['alternatives', others],
    ['candidates', candidates],
  ];
}

/** What is given to tools that have no such argument. Open ones take any. */
function lackingArguments(
  { expected: { steps = [] } }: EvaluationCase,
  tools: ReadonlyMap<string, readonly Tool[]>,
): string[] {
  return steps.flatMap(({ tool, arguments: given }, place) => {
    const schemas = tools.get(tool)?.map(({ inputSchema }) => inputSchema);
    const lacking = Object.keys(given).filter((name) =>
      schemas?.every((schema) => subschemaAt(schema, [name]) === undefined),
    );
    return lacking.map((name) => `expectedSteps.${place}.arguments.${name}`);
  });
}

function createList() {
  const first: string[] = [];
  let count = 0;
  return {
    add(text: string) {
      count += 1;
      if (first.length < MAX_TOLD) first.push(text);
    },
    first: () => first,
    count: () => count,
  };
}
