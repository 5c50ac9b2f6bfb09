/** Tools: sources, search while typing, filters, one tool with its schema and calls, and definitions that wait for review. */

import { render } from 'lit-html';
import { formatJson, formatWhole, html } from '../../../page/format.js';
import { renderDifference } from './arguments.js';
import { createCalls } from './call.js';
import { renderFailure } from './shell.js';

/** @import { HeldTool } from '../../../agents/definitions.ts' */
/** @import { Tool } from '../../../core/catalog/tool.ts' */
/** @import { Answer, Failure } from './api.js' */
/** @import { Console, Page } from './app.js' */
/** @import { Word, Words } from './words.js' */

/** A tool as the API returns it. @typedef {Pick<Tool, 'name' | 'title' | 'description' | 'category' | 'risk' | 'origin' | 'inputSchema' | 'outputSchema'> & {runner?: string}} ListedTool */

/** Filters of the list. @type {Readonly<Record<string, Word>>} */
const FILTERS = { origin: 'source', risk: 'risk', runner: 'type', category: 'category' };

/** Filters whose values have words of their own. */
const WORDED = new Set(['risk', 'runner']);

/** @type {Page} */
export const toolsPage = { name: 'tools', title: 'tools', needs: 'listTools', create: createTools };

/** @param {Console} console */
function createTools(console) {
  const { api, update } = console;
  let tools = /** @type {readonly (ListedTool & {words: string})[]} */ ([]);
  /** To leave the list unchanged if the server returns the same tools. */
  let lastText = '';
  let held = /** @type {readonly HeldTool[]} */ ([]);
  let accepted = /** @type {Set<string>} */ (new Set());
  let failure = /** @type {Failure | undefined} */ (undefined);
  let heldFailure = /** @type {Failure | undefined} */ (undefined);
  let isRead = false;
  const list = createList();
  const calls = createCalls(console);

  async function read() {
    const answer = /** @type {Answer<{tools: ListedTool[]}>} */ (await api.ask('GET v1/tools'));
    failure = answer.ok ? undefined : answer.failure;
    const text = JSON.stringify(answer);
    if (answer.ok && text !== lastText) {
      lastText = text;
      tools = answer.value.tools.map((tool) => ({ ...tool, words: wordsOf(tool) }));
    }
    isRead = true;
    update();
  }

  async function readHeld() {
    const answer = /** @type {Answer<{held: HeldTool[]}>} */ (await api.ask('GET v1/tools/changes'));
    if (answer.ok) [held, accepted] = [answer.value.held, new Set()];
    update();
  }

  /**
   * The id accepts the reviewed definition and no later one. It keeps its place, so that no click hits another.
   * @param {HeldTool} one
   */
  async function accept({ id }) {
    const answer = await api.ask('POST v1/tools/changes/accept', { body: { ids: [id] } });
    heldFailure = answer.ok ? undefined : answer.failure;
    if (answer.ok) accepted.add(id);
    if (answer.ok) await read();
    update();
  }

  /** @param {Event & {target: HTMLInputElement | HTMLSelectElement}} event */
  function change({ target }) {
    const { [target.name]: _, tool: __, ...view } = console.view;
    console.show(target.value ? { ...view, [target.name]: target.value } : view);
  }

  return {
    enter() {
      if (console.view.tool !== undefined) calls.enter();
      if (isRead && console.view.tool !== undefined) return;
      // Clears the old entries, so that no click hits them while others load.
      [held, accepted] = [[], new Set()];
      update();
      read();
      if (console.has('listToolChanges')) readHeld();
    },
    badge: () => held.length - accepted.size,
    render() {
      const { t, view } = console;
      const one = view.tool === undefined ? undefined : tools.find(({ name }) => name === view.tool);
      if (view.tool !== undefined && isRead)
        return renderTool(one, { t, name: view.tool, back: list.address, renderCalls: calls.render });
      const shown = list.show(tools, { view, t });
      return html`<h1>${t('tools')}</h1>
        ${renderFailure(failure, t)} ${renderFailure(heldFailure, t)}
        ${held.length > 0 && renderHeld(held, { t, accepted, onAccept: accept })}
        ${renderSources(tools, t)}
        <search class="row"><input type="search" name="q" aria-label=${t('search_tools')} placeholder=${t('search_tools')} .value=${view.q ?? ''} @input=${change}>
          ${Object.entries(FILTERS).map(([name, label]) => renderFilter(name, t(label), { tools, t, chosen: view[name], change }))}</search>
        <p role="status" class="quiet">${isRead ? t('tools_shown', { shown: formatWhole(shown.length), all: formatWhole(tools.length) }) : t('reading')}</p>
        ${list.element}`;
    },
  };
}

/** @param {ListedTool} tool */
const wordsOf = ({ name, title = '', description, category = '' }) =>
  [name, title, description, category].join('\n').toLowerCase();

/** Undefined where the description begins with it, as in many OpenAPI documents. @param {ListedTool} tool */
const titleOf = ({ title, description }) =>
  title && description.toLowerCase().startsWith(title.trim().toLowerCase()) ? undefined : title;

/** Makes each row once. Of thousands of rows, a filter touches only those that it removes or adds. */
function createList() {
  const element = Object.assign(document.createElement('ol'), { className: 'tools' });
  let rows = /** @type {Map<string, HTMLElement>} */ (new Map());
  let last = { tools: /** @type {readonly ListedTool[]} */ ([]), language: '', key: '' };
  let shown = /** @type {readonly ListedTool[]} */ ([]);

  /** Rows, wanted and present, have the order of all tools. @param {readonly HTMLElement[]} wanted */
  function place(wanted) {
    const staying = new Set(wanted);
    for (const row of /** @type {HTMLElement[]} */ ([...element.children])) if (!staying.has(row)) row.remove();
    let next = element.firstElementChild;
    for (const row of wanted) {
      if (row === next) next = next.nextElementSibling;
      else element.insertBefore(row, next);
    }
  }

  return {
    element,
    /** The address of the list as last shown. */
    get address() {
      return `#tools?${last.key}`;
    },
    /** @param {readonly (ListedTool & {words: string})[]} tools @param {{view: Record<string, string>, t: Words}} options */
    show(tools, { view, t }) {
      const [language, key] = [t('language'), String(new URLSearchParams(view))];
      const isOther = last.tools !== tools || last.language !== language;
      if (isOther) {
        rows = new Map(tools.map((tool) => [tool.name, createRow(tool, t)]));
        element.replaceChildren();
      }
      if (isOther || last.key !== key) {
        shown = findTools(tools, view);
        place(shown.flatMap(({ name }) => rows.get(name) ?? []));
      }
      last = { tools, language, key };
      return shown;
    },
  };
}

/** @param {ListedTool} tool @param {Words} t */
function createRow(tool, t) {
  const { name, description, category, risk } = tool;
  const title = titleOf(tool);
  const row = document.createElement('li');
  row.dataset.tool = name;
  render(
    html`<a href=${`#tools?${new URLSearchParams({ tool: name })}`}><code>${name}</code></a>${title && html` <small>${title}</small>`} ${category && html`<span class="badge">${category}</span> `}<span class="badge ${risk === 'high' ? 'wrong' : ''}">${t.of('risk', risk)}</span><p class="quiet">${description}</p>`,
    row,
  );
  return row;
}

/** Tools that contain all words. @param {readonly (ListedTool & {words: string})[]} tools @param {Record<string, string>} view */
function findTools(tools, { q = '', ...filters }) {
  const terms = q.toLowerCase().split(/\s+/u).filter(Boolean);
  const narrowed = Object.entries(filters).filter(([name]) => name in FILTERS);
  return tools.filter(
    (tool) =>
      terms.every((term) => tool.words.includes(term)) &&
      narrowed.every(([name, value]) => tool[/** @type {keyof ListedTool} */ (name)] === value),
  );
}

/** @param {readonly ListedTool[]} tools @param {string} field @returns {[string, number][]} */
function countBy(tools, field) {
  const counts = /** @type {Map<string, number>} */ (new Map());
  for (const tool of tools) {
    const value = tool[/** @type {keyof ListedTool} */ (field)];
    if (typeof value === 'string') counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** @param {readonly ListedTool[]} tools @param {Words} t */
const renderSources = (tools, t) =>
  tools.length > 0 &&
  html`<details class="card" open><summary>${t('sources')}</summary><ul data-sources>${countBy(tools, 'origin').map(
    ([origin, count]) =>
      html`<li class="row"><code>${origin}</code> <small>${t('tools_count', { count: formatWhole(count) })}</small></li>`,
  )}</ul></details>`;

/**
 * @param {string} name @param {string} label
 * @param {{tools: readonly ListedTool[], t: Words, chosen: string | undefined, change(event: Event): void}} options
 */
function renderFilter(name, label, { tools, t, chosen, change }) {
  const values = countBy(tools, name);
  if (values.length < 2) return false;
  return html`<select name=${name} aria-label=${label} @change=${change}><option value="" .selected=${!chosen}>${label}: ${t('all')}</option>${values.map(
    ([value, count]) =>
      html`<option value=${value} .selected=${chosen === value}>${WORDED.has(name) ? t.of(name, value) : value} (${formatWhole(count)})</option>`,
  )}</select>`;
}

/** @param {ListedTool | undefined} tool @param {{t: Words, name: string, back: string, renderCalls(tool: ListedTool): unknown}} options */
function renderTool(tool, { t, name, back, renderCalls }) {
  if (!tool)
    return html`<h1><code>${name}</code></h1><p>${t('why_unseen', { name })}</p><p><a href=${back}>${t('all_tools')}</a></p>`;
  const { description, category, runner, risk, origin, inputSchema, outputSchema } = tool;
  const title = titleOf(tool);
  const facts = [
    [t('risk'), t.of('risk', risk)],
    [t('source'), origin],
    [t('type'), runner ? t.of('runner', runner) : t('no_runner')],
    [t('category'), category ?? '–'],
  ];
  return html`<p><a href=${back}>${t('all_tools')}</a></p>
    <h1><code>${name}</code></h1>
    ${title && html`<p>${title}</p>`}
    <p class="query">${description}</p>
    <dl class="facts">${facts.map(([label, value]) => html`<dt>${label}</dt><dd>${value}</dd>`)}</dl>
    ${renderCalls(tool)}
    <h2>${t('input_schema')}</h2><pre tabindex="0">${formatJson(inputSchema)}</pre>
    ${outputSchema && html`<h2>${t('output_schema')}</h2><pre tabindex="0">${formatJson(outputSchema)}</pre>`}`;
}

/** @param {readonly HeldTool[]} held @param {{t: Words, accepted: ReadonlySet<string>, onAccept(one: HeldTool): void}} options */
function renderHeld(held, { t, accepted, onAccept }) {
  return html`<section aria-labelledby="held"><h2 id="held">${t('held')}</h2><p class="quiet">${t('held_help')}</p>
    <ul>${held.map(
      (one) => html`<li class="card extra" data-held=${one.name}>
        <h3><code>${one.name}</code> <span class="badge">${t.of('held', one.is)}</span> <small>${one.origin}</small></h3>
        ${one.flags.map(({ kind, where, excerpt, reason }) => html`<p class="tone wrong" data-flag=${kind}><b>${t.of('flag', kind)}</b> <code>${where}</code> ${reason} ${excerpt && html`<code>${excerpt}</code>`}</p>`)}
        <dl class="facts">${one.differences.map(({ field, before, now }) => html`<dt><code>${field}</code></dt><dd data-field=${field}>${renderDifference(before, now)}</dd>`)}</dl>
        <p><button type="button" ?disabled=${accepted.has(one.id)} @click=${() => onAccept(one)}>${accepted.has(one.id) ? t('accepted') : t('accept')}<span class="hidden"> ${one.name}</span></button></p>
      </li>`,
    )}</ul></section>`;
}
