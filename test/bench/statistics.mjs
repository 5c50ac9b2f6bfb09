/** Middle and spread of a few numbers. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** `{median, least, most}` */
export function spread(values) {
  return { median: median(values), least: Math.min(...values), most: Math.max(...values) };
}

export function renderNumber(value) {
  if (!Number.isFinite(value)) return '-';
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return Number(value.toFixed(digits)).toLocaleString('en', { maximumFractionDigits: digits });
}

/** `4.2 (3.9-4.8)` */
export function renderSpread({ median: middle, least, most }) {
  return `${renderNumber(middle)} (${renderNumber(least)}-${renderNumber(most)})`;
}

/** Rows of texts as a markdown table, the first column to the left. */
export function renderTable(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, place) => (place === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}
