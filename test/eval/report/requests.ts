/** What the generated cases ask, and the plan that is right for each: hydrology in Chinese, and in English. */
import type { ExpectedStep } from '../../../src/eval/record.js';

export interface RequestForm {
  readonly lang: 'zh' | 'en';
  readonly tags: readonly string[];
  query(place: Place): string;
  readonly steps: (place: Place) => ExpectedStep[];
  /** Sets of tools that are as good. */
  readonly alternatives?: readonly (readonly string[])[];
  readonly kind?: 'clarification' | 'unplannable';
  readonly followsUp?: boolean;
}

export interface Place {
  readonly zh: string;
  readonly en: string;
  readonly sort: 'RR' | 'ZZ' | 'PP';
}

export const PLACES: readonly Place[] = [
  { zh: '盘石头水库', en: 'Panshitou reservoir', sort: 'RR' },
  { zh: '小南海水库', en: 'Xiaonanhai reservoir', sort: 'RR' },
  { zh: '塔岗水库', en: 'Tagang reservoir', sort: 'RR' },
  { zh: '元村站', en: 'Yuancun station', sort: 'ZZ' },
  { zh: '淇门站', en: 'Qimen station', sort: 'ZZ' },
  { zh: '新村站', en: 'Xincun station', sort: 'PP' },
];

const lookup = (place: Place, lang: 'zh' | 'en'): ExpectedStep => ({
  tool: 'lookup_station_code',
  arguments: { name: place[lang] },
  argumentsAnyOf: {
    name: [place[lang], place[lang].replace(/水库|站| reservoir| station/u, '')],
    sttp: ['', place.sort],
  },
});
const call = (tool: string, values: Record<string, unknown>): ExpectedStep => ({ tool, arguments: values });

export const REQUESTS: readonly RequestForm[] = [
  {
    lang: 'zh',
    tags: ['single', 'producer'],
    query: ({ zh }) => `${zh}当前水位`,
    steps: (place) => [lookup(place, 'zh'), call('query_reservoir_last', { stcd: '$0.stcd' })],
  },
  {
    lang: 'en',
    tags: ['single', 'producer'],
    query: ({ en }) => `How much water does ${en} hold right now?`,
    steps: (place) => [lookup(place, 'en'), call('query_reservoir_last', { stcd: '$0.stcd' })],
  },
  {
    lang: 'zh',
    tags: ['compound', 'producer'],
    query: ({ zh }) => `${zh}汛限是多少，现在离汛限还有多远`,
    steps: (place) => [
      lookup(place, 'zh'),
      call('query_reservoir_flood_limit', { stcd: '$0.stcd' }),
      call('query_reservoir_last', { stcd: '$0.stcd' }),
    ],
    alternatives: [['lookup_station_code', 'query_reservoir_last']],
  },
  {
    lang: 'zh',
    tags: ['chain', 'dispatch'],
    query: ({ zh }) => `按最新自动预报给${zh}做一次调度演算，并评估洪水风险后通知值班组`,
    steps: (place) => [
      lookup(place, 'zh'),
      call('get_latest_auto_forecast', {}),
      call('simulate_dispatch', { stcd: '$0.stcd', forecast_id: '$1.forecast_id', mode: 'limit' }),
      call('assess_flood_risk', { stcd: '$0.stcd', forecast_id: '$1.forecast_id' }),
      call('send_duty_message', { group: '值班组', content: '$3.suggestions' }),
    ],
  },
  {
    lang: 'en',
    tags: ['chain', 'rain'],
    query: ({ en }) => `Rain over the last 24 hours at ${en}, and does it exceed the warning threshold?`,
    steps: (place) => [
      lookup(place, 'en'),
      call('query_rain_sum', { stcd: '$0.stcd', hours: 24 }),
      call('query_warning_threshold', { stcd: '$0.stcd' }),
    ],
  },
  {
    lang: 'zh',
    tags: ['single'],
    query: () => '现在有哪些水库超汛限',
    steps: () => [call('list_reservoirs_over_limit', {})],
  },
  {
    lang: 'en',
    tags: ['single', 'follow-up'],
    followsUp: true,
    query: () => 'And the same for the last 72 hours, please.',
    steps: (place) => [lookup(place, 'en'), call('query_rain_process', { stcd: '$0.stcd', hours: 72 })],
  },
  {
    lang: 'zh',
    tags: ['irrelevant'],
    kind: 'unplannable',
    query: () => '帮我订一张明天去郑州的高铁票',
    steps: () => [],
  },
  {
    lang: 'en',
    tags: ['ask-back'],
    kind: 'clarification',
    query: () => 'Change the warning threshold.',
    steps: () => [call('set_warning_threshold', {})],
  },
];

export const OTHER_TOOLS: readonly string[] = [
  'get_station_info',
  'list_stations',
  'query_reservoir_process',
  'query_river_last',
  'query_river_process',
  'query_rain_statistics',
  'query_areal_rain',
  'query_rain_forecast',
  'start_auto_forecast',
  'list_dispatch_plans',
  'list_warnings',
  'render_basin_map',
  'generate_flood_report',
  'search_knowledge',
];
