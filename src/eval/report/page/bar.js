/** A bar of one or several parts, as wide as its place. */
import { drawing } from './dom.js';

/** @param {{class: string, share: number}[]} parts */
export function drawBar(parts) {
  let left = 0;
  const rects = parts.map(({ class: name, share }) => {
    left += share;
    return drawing('rect', { class: name, x: `${100 * (left - share)}%`, width: `${100 * share}%`, height: 16 });
  });
  return drawing('svg', { class: 'bar', width: '100%', height: 16, 'aria-hidden': 'true' }, rects);
}
