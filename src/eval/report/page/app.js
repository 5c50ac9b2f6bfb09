/** Starts the page of a report: its data stands in elements of the page, and its view in the address after `#`. */
import { openSource } from './data.js';
import { createReport } from './report.js';

/** @param {HTMLElement} root */
async function start(root) {
  const blocksOf = (/** @type {string} */ kind) =>
    [...document.querySelectorAll(`script[data-block="${kind}"]`)].map((block) => block.textContent ?? '');
  const data = JSON.parse(document.getElementById('data')?.textContent ?? '');
  const blocks = { cases: blocksOf('cases'), rows: blocksOf('rows'), prompts: blocksOf('prompts') };
  const source = openSource(data, blocks);
  const cases = await source.readCases();
  root.replaceChildren();
  const address = {
    read: () => Object.fromEntries(new URLSearchParams(location.hash.slice(1))),
    write: (/** @type {object} */ view) =>
      history.replaceState(null, '', `#${new URLSearchParams(Object.entries(view))}`),
  };
  addEventListener('hashchange', createReport(source, cases, { root, address }));
  document.documentElement.dataset.ready = 'true';
}

const page = document.querySelector('main') ?? document.body;
start(page).catch((error) => {
  page.textContent = `This report cannot be shown: ${error instanceof Error ? error.message : error}. It needs a browser of 2024 or later.`;
});
