/** An opened case: request, plans as graphs, arguments with their sources, tools, and the rest folded. */
import { diffWordsWithSpace } from 'diff';
import { nothing } from 'lit-html';
import { formatDuration, formatName, formatScore, formatValue, formatWhole, html } from '../../../page/format.js';
import { drawPlan } from '../../../page/graph.js';
import { renderCalls } from './prompts.js';

/** @import { ArgumentVerdict, CaseRecord } from '../../record.ts' */
/** @import { ReportRun, WholeCase } from '../report-data.ts' */
/** @import { ShownStep } from '../../../page/shown-step.ts' */
/** @import { ShownPair } from '../show-plan.ts' */
/** @import { Case, ReportSource } from './data.js' */

/** A case in one of the runs, with the stable parts of its calls. @typedef {WholeCase & {name: string, run: ReportRun, texts: (string | null)[]}} Side */

/** @type {Record<string, string>} */
const SOURCES = {
  step: 'an earlier step',
  request: 'the request',
  computed: 'worked out from the request',
  enum: 'a choice of the schema',
  default: 'default of the schema',
  composed: 'written by the model',
  unknown: 'no known source',
  person: 'a person',
};
/** @type {Record<ArgumentVerdict, [sign: string, words: string, tone: string]>} */
const VERDICTS = {
  same: ['✓', 'same', 'right'],
  form: ['✓', 'same, in another form', 'right'],
  accepted: ['✓', 'accepted too', 'right'],
  default: ['✓', 'the default', 'right'],
  optional: ['✓', 'may be left out', 'right'],
  unjudged: ['·', 'not judged', ''],
  different: ['≠', 'differs', 'wrong'],
  missing: ['✗', 'missing', 'wrong'],
  extra: ['+', 'not expected', 'extra'],
};
const KINDS = {
  plan: 'a plan',
  clarification: 'a question back',
  unplannable: 'no plan',
  plan_invalid: 'no valid plan',
};
const MARKS = { hit: '✓', missing: '✗', extra: '+' };

/** Reads the case and renders it. @param {Case} one @param {ReportSource} source */
export async function renderCase({ rows }, { data: { runs }, readCase, readPrompt }) {
  const read = rows.map(async (row, at) => {
    const run = runs[at];
    if (!row || !run) return [];
    const whole = await readCase(row.place);
    const texts = await Promise.all(whole.prompts.map((place) => place && readPrompt(place)));
    return [{ ...whole, run, texts, name: runs.length === 1 ? 'Got' : (['First run', 'Second run'][at] ?? '') }];
  });
  const sides = (await Promise.all(read)).flat();
  const last = sides.at(-1);
  if (!last) return nothing;
  return html`
    ${renderRequest(last.record, sides)}
    ${renderPlans(last, sides)}
    ${renderSides('Arguments, each with its source', 'arguments', sides, renderSteps)}
    ${renderSides('Selected tools', 'tools', sides, renderTools)}
    <details class="card calls" ?open=${sides.length > 1}>
      <summary>${sides.length > 1 ? 'Prompts and answers, with their differences' : 'What the model saw and what it answered'}</summary>
      ${renderCalls(sides)}
    </details>
    <details class="card scores"><summary>Scores and tokens of this case</summary>${renderFigures(sides)}</details>`;
}

/** @param {string} title @param {string} name @param {Side[]} sides @param {(side: Side) => unknown} renderSide */
const renderSides = (title, name, sides, renderSide) => html`<section class=${name}>
    <h3>${title}</h3>
    <div class="grid wide">
      ${sides.map((side) => html`<div>${sides.length > 1 && html`<h4>${side.name}</h4>`}${renderSide(side)}</div>`)}
    </div>
  </section>`;

/** @param {CaseRecord} record @param {Side[]} sides */
function renderRequest({ query, lang, history = [], entities = {} }, sides) {
  const taken = sides.flatMap(({ plan }) =>
    plan.pairs.flatMap(({ got }) =>
      Object.keys(got?.from ?? {}).flatMap((name) =>
        got?.from?.[name] === 'request' ? formatValue(got.arguments[name]) : [],
      ),
    ),
  );
  return html`<section class="request">
    <h3>Request</h3>
    ${history.map(({ role, content }) => html`<p class="card" lang=${lang ?? nothing}><small lang="en">${role}</small> ${content}</p>`)}
    <p class="query" lang=${lang ?? nothing}>${markTaken(query, taken)}</p>
    ${Object.entries(entities).map(([name, value]) => html`<span class="badge">${name}: ${formatValue(value)}</span> `)}
    ${sides.map(
      ({ record: { error }, name }) =>
        error &&
        html`<p class="card error">
      ${sides.length > 1 && `${name}: `}<code>${error.code}</code> ${error.message} ${error.issues.join('; ')}
    </p>`,
    )}
  </section>`;
}

/** Marks the words that arguments were taken from. @param {string} text @param {string[]} taken */
function markTaken(text, taken) {
  const found = taken.filter((words) => words !== '').sort((one, other) => other.length - one.length);
  const words = found.map((one) => one.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, '\\$&')).join('|');
  if (words === '') return text;
  return text
    .split(new RegExp(`(${words})`, 'u'))
    .map((part, at) => (at % 2 === 1 ? html`<mark class="taken">${part}</mark>` : part));
}

/** With two runs, the expected plan has no marks, since they would differ between runs. @param {Side} last @param {Side[]} sides */
function renderPlans({ record: { expected }, plan }, sides) {
  const state = /** @type {const} */ ('unjudged');
  /** @param {ShownStep} step */
  const unmarked = (step) => ({ ...step, state, uses: step.uses.map((use) => ({ ...use, state })) });
  const wanted =
    expected.kind && expected.kind !== 'plan' ? `Expected is ${KINDS[expected.kind]}.` : 'No steps are given.';
  const graphs = [
    { name: 'Expected', steps: sides.length > 1 ? plan.expected.map(unmarked) : plan.expected, note: wanted },
    ...sides.map((side) => ({ name: side.name, steps: side.plan.got, note: renderKind(side.record) })),
  ];
  return html`<section class="plan">
    <h3>Plan</h3>
    <div class="grid wide">${graphs.map(
      ({ name, steps, note }, at) => html`<div class="card" data-graph=${at === 0 ? 'expected' : 'got'}>
      <h4>${name}</h4>
      ${(at > 0 || steps.length === 0) && html`<p class="quiet">${note}</p>`}
      ${steps.length > 0 && html`<div class="scroll" tabindex="0" role="group" aria-label="${name} plan">${drawPlan(steps, `${name} plan`)}</div>`}
    </div>`,
    )}</div>
  </section>`;
}

/** @param {CaseRecord} record */
function renderKind({ expected, result }) {
  if (!result) return 'There is no plan.';
  const isOther = expected.kind !== undefined && expected.kind !== result.kind;
  return html`<span class="badge ${isOther ? 'wrong' : ''}">${KINDS[result.kind]}</span>
    ${isOther && expected.kind && html`<span class="badge">expected: ${KINDS[expected.kind]}</span>`}
    ${result.repaired && html`<span class="badge">after a repair</span>`} ${result.text}`;
}

/** @param {Side} side */
function renderSteps({ plan: { pairs } }) {
  if (pairs.length === 0) return html`<p class="quiet">There are no steps.</p>`;
  return pairs.map((pair) => {
    const { expected, got } = pair;
    const state = expected && got ? 'hit' : expected ? 'missing' : 'extra';
    const names = new Set([...Object.keys(pair.arguments), ...Object.keys(got?.arguments ?? {})]);
    return html`<div class="card ${state}" data-pair=${state}>
      <p><b class="tone" aria-hidden="true">${MARKS[state]}</b> <code>${got?.tool ?? expected?.tool}</code>
        <small>${[expected && `expected ${expected.id}`, got && `got ${got.id}`].filter(Boolean).join(' · ')} ${got?.purpose}</small>
        ${state !== 'hit' && html`<span class="badge ${state}">${state === 'missing' ? 'missing' : 'not expected'}</span>`}</p>
      <ul>${[...names].map((name) => renderArgument(name, pair))}</ul>
    </div>`;
  });
}

/** Shows a value once where both plans agree. @param {string} name @param {ShownPair} pair */
function renderArgument(name, { expected, got, arguments: verdicts }) {
  const verdict = verdicts[name] ?? 'unjudged';
  const [sign, words, tone] = VERDICTS[verdict];
  /** @param {ShownPair['expected']} step */
  const textOf = (step) => (step && name in step.arguments ? formatValue(step.arguments[name]) : undefined);
  const [wanted, found] = [textOf(expected), textOf(got)];
  const parts = verdict === 'different' && wanted && found ? diffWordsWithSpace(wanted, found) : undefined;
  /** @param {string} side @param {string | undefined} text @param {'added' | 'removed'} other */
  const value = (side, text, other) => {
    const marked = parts?.filter((part) => !part[other]);
    const shown = marked?.map((part) => (part.added || part.removed ? html`<mark>${part.value}</mark>` : part.value));
    return (
      text !== undefined && html`<span data-side=${side}><small>${side}</small> <code>${shown ?? text}</code></span>`
    );
  };
  const from = got?.from?.[name];
  const step = from === 'step' && /\$\{(\w+)/u.exec(found ?? '')?.[1];
  return html`<li class="row argument ${tone}" data-argument=${name} data-verdict=${verdict}>
    <code>${name}</code>
    ${wanted !== found && value('expected', wanted, 'added')} ${value('got', found, 'removed')}
    ${from && html`<span data-from=${from}><small>from</small> <span class="badge ${from === 'unknown' ? 'wrong' : ''}">${step ? `step ${step}` : SOURCES[from]}</span></span>`}
    <span class="tone"><span aria-hidden="true">${sign}</span> ${words}</span>
  </li>`;
}

/** @param {Side} side */
function renderTools({ record: { expected, selection, rung }, needed }) {
  if (!selection) return html`<p class="quiet">There was no selection.</p>`;
  const { mode, reason, tools, dropped, leftOut } = selection;
  const missing = needed.filter((name) => !tools.some((tool) => tool.name === name));
  const others = [expected.tools, ...(expected.alternatives ?? [])].filter(
    (set) => set.join('\n') !== needed.join('\n'),
  );
  /** @param {string} name @param {keyof typeof MARKS} mark @param {unknown[]} facts */
  const tool = (name, mark, facts) =>
    html`<li class=${mark} data-tool=${name} data-mark=${mark}><b class="tone" aria-hidden="true">${MARKS[mark]}</b> <code>${name}</code> <small>${facts.filter(Boolean).join(' · ')}</small></li>`;
  const notes = [
    needed.length === 0 && 'No tool fits: the right choice is none.',
    others.length > 0 && `Accepted too: ${others.map((set) => set.join(', ') || 'no tool').join('; or ')}.`,
    ...dropped.map(
      (one) =>
        `Dropped: ${one.name} (${formatName(one.reason)}${one.suggestion ? `, near ${one.suggestion}` : ''})${needed.includes(one.name) ? ', which was needed' : ''}.`,
    ),
    leftOut > 0 && `Visible tools that did not fit: ${formatWhole(leftOut)}.`,
  ];
  return html`<p class="quiet">
      ${mode !== 'selected' && html`<span class="badge">${mode}</span>`} ${rung && html`<span class="badge">summaries: ${formatName(rung)}</span>`} ${reason}
    </p>
    <ul>
      ${missing.map((name) => tool(name, 'missing', ['needed but missing']))}
      ${tools.map(({ name, via, rank, probability, serves }) => {
        const isNeeded = needed.includes(name);
        return tool(name, isNeeded ? 'hit' : 'extra', [
          isNeeded ? 'needed' : 'not needed',
          via,
          serves && `for ${serves}`,
          rank && `#${rank}`,
          probability && formatScore(probability),
        ]);
      })}
    </ul>
    ${notes.map((note) => note && html`<p class="quiet">${note}</p>`)}`;
}

/** @param {Side[]} sides */
function renderFigures(sides) {
  const scores = new Set(sides.flatMap(({ record }) => Object.keys(record.scores)));
  /** @param {string} label @param {(record: CaseRecord, run: ReportRun) => string} show */
  const row = (label, show) =>
    html`<tr><th scope="row">${label}</th>${sides.map(({ record, run }) => html`<td>${show(record, run)}</td>`)}</tr>`;
  return html`<table>
    <thead><tr><th scope="col">Figure</th>${sides.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>
      ${row('Time, and that of selection', ({ milliseconds }) => `${formatDuration(milliseconds.total)}, ${formatDuration(milliseconds.selection)}`)}
      ${/** @type {const} */ (['selection', 'planning']).map((stage) => row(`Tokens of ${stage}: read, cached, written`, ({ usage }) => [usage[stage].read, usage[stage].cached, usage[stage].written].map(formatWhole).join(', ')))}
      ${row('Schema tokens loaded, of all', ({ usage }) => `${formatWhole(usage.schemaTokens.loaded)} of ${formatWhole(usage.schemaTokens.all)}`)}
      ${[...scores].map((name) => row(sides[0]?.run.scores[name]?.label ?? formatName(name), (record) => formatScore(record.scores[name])))}
    </tbody>
  </table>`;
}
