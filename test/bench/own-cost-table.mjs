/** The measurements of `own-cost.mjs` as markdown. */
import { renderNumber, renderSpread, renderTable } from './statistics.mjs';

const COLUMNS = ['winnow', 'langchain', 'two model calls', 'two fetches'];
const HEAD = ['Winnow', 'LangChain', 'two model calls', 'two fetches'];

export function renderResults(all, { rounds, requests, concurrency }) {
  const cell = (value) => (value ? renderSpread(value) : '-');
  const cells = ({ contestants }, measure, names = COLUMNS) =>
    names.map((name) => cell(contestants.find((one) => one.name === name)?.[measure]));
  const cpu = all.map((one) => [one.label, ...cells(one, 'cpuMs'), cell(one.timesLessCpu), cell(one.aboveTwoCallsMs)]);
  const wall = all.map((one) => [one.label, ...cells(one, 'ms'), cell(one.timesFaster)]);
  const rate = all.map((one) => [one.label, ...cells(one, 'perSecond', COLUMNS.slice(0, 2)), cell(one.timesMore)]);
  return [
    `Middle of ${rounds} rounds of ${requests} requests (least and most of the rounds)`,
    "Milliseconds of processor time a request, in the client's process",
    renderTable(['catalogue', ...HEAD, 'times less', 'own, above two calls'], cpu),
    "Milliseconds a request, by the clock, the server's with them",
    renderTable(['catalogue', ...HEAD, 'times less'], wall),
    `Requests a second, ${concurrency} at once in one process`,
    renderTable(['catalogue', 'Winnow', 'LangChain', 'times more'], rate),
    'What is sent, selection + second call',
    renderTable(
      ['catalogue', 'summaries', 'Winnow kB', 'Winnow tokens', 'LangChain kB', 'LangChain tokens'],
      all.map(sentRow),
    ),
    ...failuresOf(all),
  ].join('\n\n');
}

/** One line a contestant and catalogue of which a request failed; no time of such a request stands above. */
function failuresOf(all) {
  const lines = all.flatMap(({ label, contestants }) =>
    contestants
      .filter(({ failures }) => failures.count > 0)
      .map(({ name, failures: { count, first } }) => `- ${name} on ${label}: ${count} (first: ${first})`),
  );
  return lines.length === 0 ? [] : ['Failed requests', lines.join('\n')];
}

function sentRow({ label, sent, contestants }) {
  const pair = ({ first, second }, show) => `${show(first)} + ${show(second)}`;
  const kilobytes = ({ bytes }) => renderNumber(bytes / 1000);
  const tokens = (call) => renderNumber(call.tokens);
  const rung = contestants.find((one) => one.name === 'winnow')?.rung ?? '-';
  return [label, rung, ...[sent.winnow, sent.langchain].flatMap((one) => [pair(one, kilobytes), pair(one, tokens)])];
}
