/** What the model saw and what it said, call by call. The stable part is unpacked when it is asked for. */
import { element, section } from './dom.js';
import { formatDuration, formatWhole } from './format.js';

/** @import { ModelCall } from '../../record.ts' */

/** @typedef {[number, number] | null} Place */

/**
 * @param {ModelCall[]} calls
 * @param {{prompts: Place[], readPrompt(place: [number, number]): Promise<string>}} options
 */
export function renderCalls(calls, { prompts, readPrompt }) {
  if (calls.length === 0)
    return section('Model calls', 'calls', element('p', { class: 'muted' }, 'The model was not asked.'));
  return section(
    'Model calls',
    'calls',
    calls.map((call, at) => {
      const earlier = calls.findIndex(({ system }) => system === call.system);
      return element(
        'article',
        { class: `call ${call.error ? 'failed' : ''}`, 'data-stage': call.stage },
        element(
          'h4',
          {},
          `${at + 1}. ${call.stage}`,
          element(
            'span',
            { class: 'why' },
            `${formatDuration(call.milliseconds)} · ${formatWhole(call.usage.read)} read, ${formatWhole(call.usage.cached)} cached, ${formatWhole(call.usage.written)} written`,
          ),
          call.fromCache && element('span', { class: 'badge' }, 'answer from cache'),
        ),
        earlier < at
          ? element('p', { class: 'muted' }, `Stable part: the same as in call ${earlier + 1}.`)
          : renderStable(call.system, prompts[at] ?? null, readPrompt),
        renderText('Part of this request', call.user, { isOpen: true }),
        call.error && element('p', { class: 'notice' }, call.error),
        renderText('Answer', indented(call.answer), { isOpen: true }),
      );
    }),
  );
}

/** @param {string} hash @param {Place} place @param {(place: [number, number]) => Promise<string>} readPrompt */
function renderStable(hash, place, readPrompt) {
  if (!place) return element('p', { class: 'muted' }, `Stable part ${hash}: its text was not kept with the run.`);
  const text = element('pre', { tabindex: '0' }, '…');
  let isRead = false;
  const details = element(
    'details',
    { class: 'text stable' },
    element('summary', {}, 'Stable part ', element('code', {}, hash)),
    text,
  );
  details.addEventListener('toggle', async () => {
    if (!details.open || isRead) return;
    isRead = true;
    text.textContent = await readPrompt(place);
  });
  return details;
}

/** @param {string} title @param {string} text @param {{isOpen: boolean}} options */
function renderText(title, text, { isOpen }) {
  return element(
    'details',
    { class: 'text', open: isOpen },
    element('summary', {}, title),
    text ? element('pre', { tabindex: '0' }, text) : element('p', { class: 'muted' }, 'Nothing.'),
  );
}

/** JSON on several lines; anything else as it is. @param {string} text */
function indented(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}
