/** Starts the page: reads the data, then every change of what is seen goes through one function, `update`. */
import { createCasePanel } from './case-panel.js';
import { readCases } from './cases.js';
import { readRun } from './data.js';
import { byId, element } from './dom.js';
import { createExplorer } from './explorer.js';
import { formatName } from './format.js';
import { listenToKeys, renderKeyHelp } from './keyboard.js';
import { renderRunHead, renderSummary } from './summary.js';
import { hashOf, readView, writeView } from './view-state.js';

/** @import { Case } from './cases.js' */
/** @import { ReportRun } from '../report-run.ts' */
/** @import { View } from './view-state.js' */

/** @param {ReportRun} run @param {Case[]} cases */
function createPage(run, cases) {
  const common = {
    currency: run.currency,
    labelOf: (/** @type {string} */ score) => run.scores[score]?.label ?? formatName(score),
    onOpen: open,
  };
  let view = readView();
  let current = /** @type {Case | undefined} */ (undefined);
  const explorer = createExplorer(cases, {
    ...common,
    linkTo: (one) => hashOf({ ...view, ...linkOf(one) }),
    onChange: update,
  });
  const panel = createCasePanel(byId('case'), {
    ...common,
    betterOf: (score) => run.scores[score]?.better,
    linkTo: (one) => hashOf(linkOf(one)),
    repeatsOf: (one) => cases.filter(({ link }) => link === one.link),
    onMove: move,
    onClose: close,
  });

  /** @param {View} changes An empty text takes a value away. @param {{asStep?: boolean}} [options] */
  function update(changes, options) {
    view = Object.fromEntries(Object.entries({ ...view, ...changes }).filter(([, value]) => value));
    writeView(view, options);
    render();
  }

  function render() {
    explorer.show(view);
    if (!view.case) return panel.hide();
    const repeat = Number(view.repeat ?? 0);
    const one = cases.find((other) => other.link === view.case && other.repeat === repeat);
    if (!one) return panel.showMissing(view.case);
    current = one;
    // The panel first: the list is another when it stands beside a case.
    panel.show(one, { at: explorer.shown().indexOf(one), count: explorer.shown().length });
    explorer.mark(one);
  }

  /** @param {Case} one */
  function open(one) {
    update(linkOf(one), { asStep: !panel.isOpen() });
  }

  function close() {
    update({ case: '', repeat: '' });
    if (!current) return;
    explorer.mark(current);
    explorer.focus(current);
  }

  /** @param {number} by */
  function move(by) {
    const shown = explorer.shown();
    const at = current ? shown.indexOf(current) : -1;
    const next = shown[Math.min(shown.length - 1, Math.max(0, at + by))];
    if (!next) return;
    if (panel.isOpen()) return open(next);
    current = next;
    explorer.mark(next);
    explorer.focus(next);
  }

  addEventListener('hashchange', () => {
    view = readView();
    render();
  });
  listenToKeys({
    search: explorer.focusSearch,
    move,
    open: () => current && open(current),
    close: () => panel.isOpen() && close(),
  });
  render();
}

/** @param {Case} one @returns {View} */
function linkOf({ link, repeat }) {
  return { case: link, repeat: repeat > 0 ? String(repeat) : '' };
}

async function start() {
  const run = readRun();
  const cases = await readCases();
  byId('run').replaceChildren(...renderRunHead(run, cases));
  byId('summary').replaceChildren(...renderSummary(run, cases));
  byId('footer').replaceChildren(renderKeyHelp());
  byId('main').hidden = false;
  createPage(run, cases);
  document.documentElement.dataset.ready = 'true';
}

start().catch((error) => {
  const reason = error instanceof Error ? error.message : String(error);
  const text = `This report cannot be shown: ${reason}. It needs a browser of 2023 or later.`;
  byId('run').replaceChildren(element('p', { class: 'notice', role: 'alert' }, text));
});
