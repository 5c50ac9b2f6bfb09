import { describe, expect, it } from '@jest/globals';
import { register } from 'prom-client';
import { createToolIndex } from '../../../src/routing/index/tool-index.js';
import { createMetrics } from '../../../src/routing/telemetry/metrics.js';
import { TOOLS } from '../../core/selection/setup.js';
import { call, disable, enable, expire, search } from './setup.js';

describe('the metrics', () => {
  it('count what happens, in the format of Prometheus', async () => {
    const metrics = createMetrics();
    const events = [
      search('s', ['x', 'y']),
      enable('s', 'y'),
      call('s', 'y'),
      call('s', 'y', { ok: false, code: 'timeout' }),
      call('s', 'y', { ok: false, code: 'not_enabled' }),
      expire('s', 'y', 2),
      disable('s', 'x'),
    ];
    for (const event of events) metrics.observe(event);
    const lines = (await metrics.render()).split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'winnow_searches_total{ranked_by="rules"} 1',
        'winnow_search_seconds_bucket{le="0.0025"} 1',
        'winnow_search_outcomes_total{outcome="top3"} 1',
        'winnow_enablements_total{via="asked"} 1',
        'winnow_enablements_ended_total{used="yes"} 1',
        'winnow_calls_total{tool="y",outcome="ok"} 1',
        'winnow_calls_total{tool="y",outcome="error"} 1',
        'winnow_calls_total{tool="y",outcome="refused"} 1',
        'winnow_call_seconds_count{tool="y"} 2',
      ]),
    );
    expect(metrics.contentType).toMatch(/^text\/plain/u);
  });

  it('tell the state of the index', async () => {
    const index = createToolIndex(TOOLS);
    const metrics = createMetrics({ index: index.status });
    expect(await metrics.render()).toContain('winnow_index_state{state="building"} 1');
    await index.settled();
    const text = await metrics.render();
    expect(text).toContain('winnow_index_state{state="ready"} 1');
    expect(text).toContain('winnow_index_state{state="building"} 0');
    expect(text).toContain(`winnow_index_tools ${TOOLS.length}`);
  });

  it('never have a user or a query in them, and only so many tools', async () => {
    const metrics = createMetrics({ maxTools: 2 });
    metrics.observe(search('s', ['a'], { user: 'ann', query: 'secret words' }));
    for (const tool of ['a', 'b', 'c', 'd', 'a']) metrics.observe(call('s', tool, { user: 'ann' }));
    const text = await metrics.render();
    expect(text).not.toMatch(/ann|secret/u);
    expect(text).toContain('winnow_calls_total{tool="a",outcome="ok"} 2');
    expect(text).toContain('winnow_calls_total{tool="other",outcome="ok"} 2');
  });

  it('name only the tools that may be named', async () => {
    const metrics = createMetrics({ isNamed: (tool) => tool !== 'diary' });
    for (const tool of ['a', 'diary']) metrics.observe(call('s', tool));
    const text = await metrics.render();
    expect(text).toContain('winnow_calls_total{tool="other",outcome="ok"} 1');
    expect(text).not.toContain('diary');
  });

  it('are of their own registry: two of them do not know each other, nor the global one', async () => {
    const one = createMetrics();
    const other = createMetrics();
    one.observe(search('s', []));
    expect(await one.render()).toContain('winnow_searches_total{ranked_by="rules"} 1');
    expect(await other.render()).not.toContain('winnow_searches_total{');
    expect(register.getMetricsAsArray()).toEqual([]);
  });
});
