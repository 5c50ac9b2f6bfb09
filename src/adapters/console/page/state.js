/** The current state: sessions, connections and the index. Each page reads and shows one answer. */
import { formatDate, formatJson, formatWhole, html } from '../../../page/format.js';
import { createReading } from './api.js';
import { renderFailure, renderTable } from './shell.js';

/** @import { Rebuilt } from '../../../agents/agents.ts' */
/** @import { ConnectionView } from '../../../agents/connections/connections.ts' */
/** @import { SessionView } from '../../../agents/contracts.ts' */
/** @import { Answer, Failure, Reading } from './api.js' */
/** @import { Page } from './app.js' */
/** @import { Words } from './words.js' */

/** @type {Page} */
export const sessionsPage = {
  name: 'sessions',
  title: 'sessions',
  needs: 'listSessions',
  create(console) {
    const reading = /** @type {Reading<{sessions: SessionView[]}>} */ (
      createReading(console, () => 'GET v1/sessions?limit=500')
    );

    /** @param {SessionView} session @param {Words} t */
    const row = ({ id, user, turn, activeAt, endedAt, enabled }, t) => html`<tr data-session=${id}>
        <td>${user ?? '–'}</td><td>${turn}</td><td>${formatDate(activeAt)}</td>
        <td>${endedAt ? html`<span class="badge">${t('ended')}</span>` : enabled.map(({ name, remainingTurns }) => html`<code>${name}</code> <small>${remainingTurns === undefined ? t('stays') : t('turns_left', { count: remainingTurns })}</small> `)}</td>
        <td><a href=${`#audit?${new URLSearchParams({ session: id })}`}>${t('audit')}<span class="hidden"> ${id}</span></a></td></tr>`;

    return {
      enter: () => void reading.read(),
      render() {
        const { t } = console;
        const { sessions } = reading.value ?? { sessions: [] };
        const heads = [t('user'), t('turn'), t('active_at'), t('enabled'), t('audit')];
        return html`<h1>${t('sessions')}</h1>
          ${renderFailure(reading.failure, t)}
          <p role="status" class="quiet">${t('sessions_shown', { count: formatWhole(sessions.length) })}</p>
          ${
            sessions.length > 0 &&
            renderTable(
              t('sessions'),
              heads,
              sessions.map((one) => row(one, t)),
            )
          }`;
      },
    };
  },
};

/** @type {Page} */
export const connectionsPage = {
  name: 'connections',
  title: 'connections',
  needs: 'listConnections',
  create(console) {
    const { api } = console;
    const reading = /** @type {Reading<{connections: ConnectionView[]}>} */ (
      createReading(console, () => 'GET v1/connections')
    );
    let failure = /** @type {Failure | undefined} */ (undefined);
    /** Where a person goes on: a server, and its address to authorize. @type {{server: string, url: string} | undefined} */
    let begun;

    /** @param {'POST' | 'DELETE'} method @param {string} server */
    async function change(method, server) {
      const body = method === 'POST' ? {} : undefined;
      const line = `${method} v1/connections/${encodeURIComponent(server)}`;
      const answer = /** @type {Answer<{url: string}>} */ (await api.ask(line, { body }));
      failure = answer.ok ? undefined : answer.failure;
      begun = body && answer.ok ? { server, url: answer.value.url } : undefined;
      await reading.read();
    }

    /** @param {ConnectionView} connection @param {Words} t */
    const row = ({ server, isConnected, since, scope }, t) => html`<tr data-server=${server}>
        <td><code>${server}</code></td><td>${since ? formatDate(since) : '–'}</td><td>${scope ?? '–'}</td>
        <td>${
          isConnected
            ? html`<button type="button" @click=${() => change('DELETE', server)}>${t('disconnect')}<span class="hidden"> ${server}</span></button>`
            : begun?.server === server
              ? html`<a href=${begun.url} target="_blank" rel="noopener noreferrer">${t('go_on_at', { host: new URL(begun.url).host })}</a>`
              : html`<button type="button" @click=${() => change('POST', server)}>${t('connect')}<span class="hidden"> ${server}</span></button>`
        }</td></tr>`;

    return {
      enter: () => void reading.read(),
      poll: reading.read,
      render() {
        const { t } = console;
        const { connections } = reading.value ?? { connections: [] };
        const heads = [t('server'), t('since'), t('scope'), t('connect')];
        return html`<h1>${t('connections')}</h1><p class="quiet">${t('connections_help')}</p>
          ${renderFailure(failure ?? reading.failure, t)}
          ${
            connections.length > 0 &&
            renderTable(
              t('connections'),
              heads,
              connections.map((one) => row(one, t)),
            )
          }`;
      },
    };
  },
};

/** @type {Page} */
export const indexPage = {
  name: 'index',
  title: 'index',
  needs: 'getIndex',
  create(console) {
    const { api, update } = console;
    let status = /** @type {Rebuilt | undefined} */ (undefined);
    let failure = /** @type {Failure | undefined} */ (undefined);
    let isBuilding = false;

    /** @param {string} line @param {object} [body] */
    async function read(line, body) {
      isBuilding = body !== undefined;
      update();
      const answer = /** @type {Answer<Rebuilt>} */ (await api.ask(line, { body }));
      isBuilding = false;
      failure = answer.ok ? undefined : answer.failure;
      if (answer.ok) status = answer.value;
      update();
    }

    return {
      enter: () => void read('GET v1/index'),
      render() {
        const { t } = console;
        const facts = status && [
          [t('state'), t.of('index', status.state)],
          [t('tools'), formatWhole(status.tools)],
          [t('fingerprint'), status.fingerprint ?? '–'],
          [t('built_at'), status.builtAt ? formatDate(status.builtAt) : '–'],
          [
            t('weights'),
            Object.entries(status.weights)
              .map(([name, weight]) => `${name} ${weight}`)
              .join(', '),
          ],
        ];
        return html`<h1>${t('index')}</h1>
          ${renderFailure(failure, t)}
          ${facts && html`<dl class="facts" data-index=${status?.state}>${facts.map(([label, value]) => html`<dt>${label}</dt><dd>${value}</dd>`)}</dl>`}
          ${status?.error && html`<p class="card error" role="alert">${status.error}</p>`}
          ${status?.catalog && html`<pre tabindex="0" data-catalog>${formatJson(status.catalog)}</pre>`}
          <p class="row"><button type="button" ?disabled=${isBuilding} @click=${() => read('POST v1/index/rebuild', {})}>${t('rebuild')}</button>
            <span role="status" class="quiet">${isBuilding ? t('rebuilding') : ''}</span></p>`;
      },
    };
  },
};
