/** Starts the console: the address names the open page behind `#`, and one function redraws everything. */
import { nothing, render } from 'lit-html';
import { createApi } from './api.js';
import { approvalsPage } from './approvals.js';
import { evaluationsPage } from './evaluations.js';
import { policyPage } from './policy.js';
import { auditPage, figuresPage } from './reports.js';
import { runsPage } from './runs.js';
import { renderShell } from './shell.js';
import { connectionsPage, indexPage, sessionsPage } from './state.js';
import { toolsPage } from './tools.js';
import { tryPage } from './try.js';
import { chosenLanguage, keepLanguage, loadWords } from './words.js';

/** @import { Api } from './api.js' */
/** @import { Word, Words } from './words.js' */

/**
 * What a page gets. `view` holds the parameters behind the `?` of the address.
 * @typedef {object} Console
 * @property {Api} api
 * @property {Words} t
 * @property {Record<string, string>} view
 * @property {() => void} update Redraws the page.
 * @property {(view: Record<string, string>) => void} show Changes the address to this view of the same page.
 * @property {(operation: string) => boolean} has Whether this server has an operation of this name.
 */
/**
 * One page as a value in a list. It is created once; `enter` runs each time that it is opened or its view changes.
 * @typedef {object} Page
 * @property {string} name In the address.
 * @property {Word} title
 * @property {string} needs The operation without which the page is hidden.
 * @property {(console: Console) => {render(): unknown, enter?(): void, poll?(): Promise<void>, badge?(): number}} create
 */

/** @type {readonly Page[]} */
const PAGES = [
  tryPage,
  runsPage,
  approvalsPage,
  toolsPage,
  sessionsPage,
  connectionsPage,
  auditPage,
  figuresPage,
  indexPage,
  policyPage,
  evaluationsPage,
];
/** Back from another place, no click that was begun there may fall on a button of the page that was left. */
addEventListener('pageshow', ({ persisted }) => {
  const [entry] = performance.getEntriesByType('navigation');
  if (persisted || (entry instanceof PerformanceNavigationTiming && entry.type === 'back_forward'))
    location.hash = '#try';
});

/** Between polls, while the page is visible. */
const POLL_MS = 5_000;

/** @param {HTMLElement} root */
async function start(root) {
  const api = createApi();
  let t = await loadWords(chosenLanguage());
  let operations = /** @type {ReadonlySet<string>} */ (new Set());
  let isUnreachable = false;

  /** @type {Omit<Console, 'view'>} */
  const shared = {
    api,
    get t() {
      return t;
    },
    update,
    show(view) {
      history.replaceState(null, '', `#${readAddress().name}?${new URLSearchParams(view)}`);
      update();
    },
    has: (operation) => operations.has(operation),
  };
  const createPages = () => PAGES.map((page) => ({ ...page, ...page.create(consoleOf(page)) }));
  let pages = createPages();

  /** The view belongs to the open page; other pages, which may poll too, get an empty one. @param {Page} page @returns {Console} */
  function consoleOf({ name }) {
    return Object.create(shared, { view: { get: () => (current()?.name === name ? readAddress().view : {}) } });
  }

  const shown = () => pages.filter(({ needs }) => operations.has(needs));
  const current = () => shown().find(({ name }) => name === readAddress().name) ?? shown()[0];

  function update() {
    const page = current();
    const waiting = pages.reduce((sum, { badge }) => sum + (badge?.() ?? 0), 0);
    document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${page ? `${t(page.title)} · ` : ''}Winnow`;
    render(renderShell({ console: shared, pages: shown(), page, isUnreachable, onLanguage, onProof }), root);
  }

  /** @param {string} language */
  async function onLanguage(language) {
    keepLanguage(language);
    t = await loadWords(language);
    update();
  }

  /** @param {{token: string, name: string}} proof */
  function onProof(proof) {
    if (api.proof.token !== '' && proof.token !== api.proof.token) forget();
    api.prove(proof);
    open();
    checkProof();
    poll();
  }

  async function checkProof() {
    // Every server has the second one; the first is the shorter answer.
    await api.checkProof(shared.has('listApprovals') ? 'GET v1/approvals?limit=1' : 'GET v1/tools');
    update();
  }

  /** Clears pages, fields and address, so that the next person sees nothing of the one before. */
  function forget() {
    pages = createPages();
    history.replaceState(null, '', `#${readAddress().name}`);
    render(nothing, root);
  }

  async function readOperations() {
    const answer =
      /** @type {import('./api.js').Answer<{paths: Record<string, Record<string, {operationId?: string}>>}>} */ (
        await api.ask('GET openapi.json')
      );
    isUnreachable = !answer.ok;
    if (!answer.ok) return;
    const paths = Object.values(answer.value.paths);
    operations = new Set(paths.flatMap((path) => Object.values(path).map(({ operationId = '' }) => operationId)));
  }

  function open() {
    current()?.enter?.();
    update();
  }

  async function poll() {
    if (document.visibilityState !== 'visible') return;
    if (isUnreachable || operations.size === 0) await readOperations();
    if (api.standing?.ok === false && api.standing.failure.code === 'unreachable') await checkProof();
    // Pages with a badge poll even while another page is open.
    await Promise.all(shown().map((page) => (page.badge || page === current() ? page.poll?.() : undefined)));
    update();
  }

  await readOperations();
  open();
  checkProof();
  document.documentElement.dataset.ready = 'true';
  addEventListener('hashchange', () => {
    open();
    document.querySelector('main')?.focus();
  });
  document.addEventListener('visibilitychange', poll);
  await poll();
  setInterval(poll, POLL_MS);
}

function readAddress() {
  const [name = '', query = ''] = location.hash.slice(1).split('?');
  return { name, view: Object.fromEntries(new URLSearchParams(query)) };
}

const root = document.getElementById('console') ?? document.body;
start(root).catch((error) => {
  root.textContent = `The console cannot be shown: ${error instanceof Error ? error.message : error}. It needs a browser of 2024 or later.`;
});
