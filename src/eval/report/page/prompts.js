/** Prompts and answers, call by call; for two runs, their line-by-line difference. */
import { diffLines } from 'diff';
import { formatDuration, formatWhole, html } from '../../../page/format.js';

/** @import { ModelCall } from '../../record.ts' */
/** @import { Side } from './case.js' */

/** Pairs the calls of both runs by stage and index. @param {Side[]} sides */
export function renderCalls(sides) {
  const groups = /** @type {Map<string, {call: ModelCall, text: string | null, name: string}[]>} */ (new Map());
  for (const { record, texts, name } of sides) {
    record.calls.forEach((call, at) => {
      const number = record.calls.slice(0, at).filter(({ stage }) => stage === call.stage).length + 1;
      const title = `${call.stage}${number > 1 ? ` ${number}` : ''}`;
      groups.set(title, [...(groups.get(title) ?? []), { call, text: texts[at] ?? null, name }]);
    });
  }
  if (groups.size === 0) return html`<p class="quiet">The model was not asked.</p>`;
  return [...groups].map(
    ([title, calls]) => html`<article data-stage=${calls[0]?.call.stage}>
    <h4>${title}</h4>
    ${calls.map(
      ({ call: { milliseconds, usage, fromCache, error }, name }) => html`<p class="quiet">
      ${sides.length > 1 && `${name}: `}${formatDuration(milliseconds)} · ${formatWhole(usage.read)} read, ${formatWhole(usage.cached)} cached, ${formatWhole(usage.written)} written
      ${fromCache && '· answer from the cache'} ${error && html`<b class="error tone">${error}</b>`}</p>`,
    )}
    ${renderText(
      'Stable part of the prompt',
      calls.map(({ call, text }) => text ?? `Its text was not kept with the run (${call.system}).`),
      { isOpen: false },
    )}
    ${renderText(
      'Part of this request',
      calls.map(({ call }) => call.user),
      { isOpen: true },
    )}
    ${renderText(
      'Answer',
      calls.map(({ call }) => indented(call.answer)),
      { isOpen: true },
    )}
  </article>`,
  );
}

/** One text, or the difference of two. @param {string} title @param {string[]} texts @param {{isOpen: boolean}} options */
function renderText(title, [one = '', other = one], { isOpen }) {
  const isOther = one !== other;
  return html`<details class="text" ?open=${isOpen || isOther}>
    <summary>${title} ${isOther && html`<span class="badge extra">differs</span>`}</summary>
    <pre tabindex="0">${isOther ? diffLines(one, other).map(renderChange) : one || 'Nothing.'}</pre>
  </details>`;
}

/** Unchanged lines shown around a change. */
const AROUND = 3;

/** @param {{value: string, added?: boolean, removed?: boolean}} change */
function renderChange({ value, added, removed }) {
  const lines = value.replace(/\n$/u, '').split('\n');
  /** @param {string} sign @param {string[]} some */
  const signed = (sign, some) => some.map((line) => `${sign} ${line}\n`).join('');
  if (added) return html`<ins>${signed('+', lines)}</ins>`;
  if (removed) return html`<del>${signed('−', lines)}</del>`;
  if (lines.length <= 2 * AROUND + 1) return signed(' ', lines);
  const left = `… ${formatWhole(lines.length - 2 * AROUND)} equal lines …`;
  return signed(' ', [...lines.slice(0, AROUND), left, ...lines.slice(-AROUND)]);
}

/** Indents JSON, and returns other text unchanged. @param {string} text */
function indented(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}
