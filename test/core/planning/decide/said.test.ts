import { describe, expect, it } from 'vitest';
import type { Risk } from '../../../../src/core/catalog/risk.js';
import { readSaid, timesFor } from '../../../../src/core/planning/decide/said.js';
import { momentsIn } from '../../../../src/core/planning/times.js';

/** A Monday. */
const today = '2026-11-23';
const read = (message: string, request: { locale?: string } = {}) =>
  readSaid({ message, today, timeZone: 'UTC', ...request });

/** The days of a message, a window with its end behind its beginning. */
const daysIn = async (...asked: Parameters<typeof read>) =>
  (await read(...asked)).times.map(({ start, end }) => [start.date, end?.date].filter(Boolean).join(' '));

describe('a day that is said', () => {
  it.each([
    ['en', 'Will it rain in Oslo tomorrow?', '2026-11-24'],
    ['zh', '明天北京的天气怎么样', '2026-11-24'],
    ['de', 'Wie wird das Wetter morgen in Berlin?', '2026-11-24'],
    ['ja', '明日の東京の天気を教えてください', '2026-11-24'],
    ['en, by its weekday', 'Book a table on Friday', '2026-11-27'],
    ['zh, by its date', '12月5日的会议', '2026-12-05'],
    ['de, by its date', 'Der Termin am 5. Dezember 2026 wird verschoben', '2026-12-05'],
    ['de, by its weekday', 'Ein Tisch am Freitag', '2026-11-27'],
    ['de, by the last weekday', 'Wer war letzten Freitag da?', '2026-11-20'],
    ['fr, by the last weekday', 'Qui était là vendredi dernier ?', '2026-11-20'],
  ])('is worked out: %s', async (_, message, date) => {
    const { times } = await read(message);
    expect(times[0]?.start.date).toBe(date);
  });
});

describe('a day that is misspelt', () => {
  it.each([
    ['a letter is missing', 'book a table for 3 tomorow at 8pm', '2026-11-24', 'tomorow at 8pm'],
    ['letters are doubled and not', 'Wake me tommorow', '2026-11-24', 'tommorow'],
    ['letters are swapped', 'A meeting on Wendesday please', '2026-11-25', 'Wendesday'],
    ['a letter is too many', 'Ein Tisch am Donnnerstag bitte', '2026-11-26', 'am Donnnerstag'],
    ['accents are missing', 'Quiero una mesa el proximo sabado', '2026-12-05', 'proximo sabado'],
    ['a month', 'Move it to 5 Decmber', '2026-12-05', '5 Decmber'],
  ])('is read, and keeps its words: %s', async (_, message, date, text) => {
    expect((await read(message)).times).toMatchObject([{ text, start: { date } }]);
  });

  it('leaves the words of a day that is spelt right', async () => {
    const { times } = await read('Not tomorrow (tomorow) but on Friday');
    expect(times.map(({ text }) => text)).toContain('tomorrow');
  });

  it.each([
    ['another letter', 'Ein Termin mit Morgan und Freytag'],
    ['another end', 'Welche Termine habe ich montags?'],
    ['short', 'Ask Jully and Maay'],
  ])('is none: %s', async (_, message) => {
    expect(await daysIn(message)).toEqual([]);
  });
});

it.each([
  ['en', 'Six hours of workshop last Friday', '2026-11-20'],
  ['es', 'Quién estuvo el viernes pasado', '2026-11-20'],
  ['de', 'Wer war letzten Freitag da?', '2026-11-20'],
  ['zh, with its week', '上周五谁在', '2026-11-13'],
])('the last weekday is the latest one, but for one of the last week: %s, on a Sunday', async (_, message, date) => {
  const { times } = await readSaid({ message, today: '2026-11-22', timeZone: 'UTC' });
  expect(times[0]?.start.date).toBe(date);
});

it.each([
  ['en', 'Wake me tomorrow at 8 pm', { date: '2026-11-24', time: '20:00:00' }],
  ['zh', '明天下午三点开会', { date: '2026-11-24', time: '15:00:00' }],
  ['de', 'Stelle bitte den Wecker auf morgen um 20 Uhr', { date: '2026-11-24', time: '20:00:00' }],
  ['de, in words', 'Wecke mich bitte um sieben Uhr', { time: '07:00:00' }],
  ['nl, in words', 'Zet de wekker op morgen om acht uur', { date: '2026-11-24', time: '08:00:00' }],
  ['it, of the afternoon', 'Riunione domani alle tre del pomeriggio', { date: '2026-11-24', time: '15:00:00' }],
  ['pt, of the afternoon', 'Reunião amanhã às 3 da tarde, por favor', { date: '2026-11-24', time: '15:00:00' }],
  ['it, before another part', 'Riunione domani alle 9 e la sera una cena', { date: '2026-11-24', time: '09:00:00' }],
  ['fr, apart', 'Réserve une table demain à 12 h 30', { date: '2026-11-24', time: '12:30:00' }],
])('a time of day that is said is worked out with its day: %s', async (_, message, start) => {
  const { times } = await read(message);
  expect(times[0]?.start).toMatchObject(start);
});

it.each([
  ['beside another time', 'Create an event "Q3 review" on Friday at 10', ['2026-11-27']],
  ['but alone', 'Create an event "Lunch on Friday"', ['2026-11-27']],
])('a time within quotation marks is none %s', async (_, message, dates) => {
  const { times } = await read(message);
  expect(times.map(({ start }) => start.date)).toEqual(dates);
});

it.each([
  ['de', 'Zeige mir bitte alles von morgen früh', ['2026-11-24']],
  ['pt', 'Mostre-me as reuniões de amanhã de manhã', ['2026-11-24']],
  ['pt', 'Marque a reunião para daqui a duas semanas', []],
])('a part of a word, of a day or of a length is no time of its own: %s, %s', async (locale, message, dates) => {
  const { times } = await read(message, { locale });
  expect(times.map(({ start }) => start.date)).toEqual(dates);
});

it('a day since which has no end, also the first one of a month', async () => {
  const { times } = await read('Rain in Oslo since the beginning of November');
  expect(times).toEqual([expect.objectContaining({ start: { date: '2026-11-01' } })]);
  expect(times[0]).not.toHaveProperty('end');
});

it('a window of time has its end', async () => {
  const { times } = await read('Rain from tomorrow 8 am to tomorrow 5 pm');
  expect(times[0]).toMatchObject({
    start: { date: '2026-11-24', time: '08:00:00' },
    end: { date: '2026-11-24', time: '17:00:00' },
  });
});

it.each([
  ['到今天早上8点一共下了多少雨', '08:00:00'],
  ['明天下午三点一刻开会', '15:15:00'],
  ['早上8点到了吗', '08:00:00'],
])('a number that begins the next word is no minute: %s', async (message, time) => {
  const { times } = await read(message);
  expect(times.map(({ start, end }) => end?.time ?? start.time)).toEqual([time]);
});

it.each([
  ['en', 'Remind me again in a while, for two hours', 7200],
  ['zh', '下载两个小时的数据', 7200],
  ['en, of a window', 'The rain of the last 24 hours', 86_400],
  ['en, that a library takes for a time', 'Ann came in 25 min late today', 1500],
  ['en, in symbols', 'Give the job a timeout of 90s', 90],
])('a duration that is said is known in seconds: %s', async (_, message, seconds) => {
  const { durations } = await read(message);
  expect(durations.map((one) => one.seconds)).toContain(seconds);
});

it('a bare number is no day of a month, as one with its word is', async () => {
  const days = async (message: string) => (await read(message)).times.map(({ text, start }) => `${text} ${start.date}`);
  expect(await days('看看频道里的三十条消息')).toEqual([]);
  expect(await days('三十号的会议')).toEqual(['三十号 2026-11-30']);
});

it.each([
  ['en', 'A table for four people', 4],
  ['zh', '预订三张票', 3],
  ['zh, of messages', '看看频道里的三十条消息', 30],
  ['de', 'Reserviere bitte einen Tisch für vier Personen', 4],
  ['ru, of a feminine thing', 'Закажи мне две пиццы на вечер', 2],
])('a number that is said, in words or digits, is known: %s', async (_, message, value) => {
  const { numbers } = await read(message);
  expect(numbers.map((one) => one.value)).toContain(value);
});

it.each([
  ['de', 'Setze den Preis auf 1.250,50 Euro', [1250.5]],
  ['es', 'Sube el precio del T-40 a 33,75 euros', [33.75]],
  ['fr', 'Passe le prix à 33,75 €', [33.75]],
  ['pt', 'Suba o preço para 2.000', [2000]],
  ['it', 'Il prezzo è 33.75 euro', [33.75]],
  ['en', 'Set the price to 1,250.50', [1250.5]],
  ['zh', '价格改为1,200', [1200]],
  // With a decimal point, a comma may part two numbers.
  ['en', 'Show lines 3,5', [3.5, 3, 5]],
  ['en', 'Install version 1.2.3', [1, 2, 3]],
])('a number in digits has the marks of its language: %s, %s', async (locale, message, values) => {
  const { numbers } = await read(message, { locale });
  expect(numbers.map((one) => one.value)).toEqual(values);
});

it('a number does not begin within a name: v2.9.0 before a word that Recognizers takes for a unit', async () => {
  const { numbers } = await read('把 v2.9.0 member 上线', { locale: 'zh' });
  const joined = await read('先备份 production; 再发 v2.9.0 m', { locale: 'zh' });
  expect([...numbers, ...joined.numbers]).toEqual([]);
  // Without spaces, a number may directly follow a name.
  const behind = await read('要V-3二十四瓶、V-8十二瓶，12月3号送到', { locale: 'zh' });
  expect(behind.numbers.map(({ value }) => value)).toEqual([24, 12]);
});

it('what a day or a time is made of is no number', async () => {
  const { numbers } = await read('A table for 3 on 2026-12-05 at 20:00');
  expect(numbers.map((one) => one.value)).toEqual([3]);
});

it('what the message says comes before what was said earlier', async () => {
  const history = [{ role: 'user' as const, content: 'Rain in Oslo tomorrow' }];
  const { times } = await readSaid({ message: 'and on Friday?', history, today });
  expect(times.map(({ start }) => start.date)).toEqual(['2026-11-27', '2026-11-24']);
});

it.each([
  ['behind the full one', 'A flight on December 1, 2024 and back on December 15', ['2024-12-01', '2024-12-15']],
  ['ahead of the full one', 'Leave on December 20 and return on January 4, 2025', ['2024-12-20', '2025-01-04']],
  ['by today where none is full', 'Leave on December 20 and return on January 4', ['2026-12-20', '2027-01-04']],
])('a day without a year lies %s', async (_, message, dates) => {
  expect(await daysIn(message)).toEqual(dates);
});

it.each([
  ['今年1月到6月的降雨', '2026'],
  ['去年1月到6月的降雨', '2025'],
])('a month without a year lies behind the full one before it: %s', async (message, year) => {
  expect(await daysIn(message)).toEqual([`${year}-01-01 ${year}-01-31`, `${year}-06-01 ${year}-06-30`]);
});

it('a day that is counted from today says nothing of the year of other days', async () => {
  const { times } = await read('hoteles en Sevilla del 5 al 8 de diciembre, somos 3, como mucho 120 la noche');
  expect(times[0]).toMatchObject({ start: { date: '2026-12-05' }, end: { date: '2026-12-08' } });
});

it.each([
  ['en', 'Which warnings are active now?'],
  ['zh', '现在有哪些预警'],
  ['fr', 'Quelles alertes sont actives maintenant ?'],
  ['de', 'Welche Warnungen gelten denn jetzt gerade noch?'],
])('the present is known as such: %s', async (_, message) => {
  const { times } = await read(message);
  expect(times.map(({ isNow }) => isNow)).toEqual([true]);
});

it.each([
  ['fr', 'Une table pour quatre personnes demain soir, merci', '2026-11-24'],
  ['fr', 'Quel temps après-demain à Lyon ?', '2026-11-25'],
  ['fr', 'Les ventes d’avant-hier', '2026-11-21'],
  ['fr', 'Les ventes de la semaine prochaine', '2026-11-30 2026-12-06'],
  ['fr', 'Les ventes du mois dernier', '2026-10-01 2026-10-31'],
  ['de', 'Was steht nächste Woche an?', '2026-11-30 2026-12-06'],
  ['pt', 'Como vai estar o tempo depois de amanhã?', '2026-11-25'],
  ['it', 'Le vendite del mese scorso', '2026-10-01 2026-10-31'],
  ['ja', '昨年の売上', '2025-01-01 2025-12-31'],
  ['pl', 'Zarezerwuj stolik na piątek', '2026-11-27'],
  ['es', 'Las ventas del mes pasado', '2026-10-01 2026-10-31'],
  ['en', 'Sales of last week', '2026-11-16 2026-11-22'],
  ['zh', '去年的销售额', '2025-01-01 2025-12-31'],
  ['ko', '금요일에 회의가 있나요?', '2026-11-27'],
])('a day or a time near today is known by its name in Unicode: %s, %s', async (locale, message, expected) => {
  expect(await daysIn(message, { locale })).toEqual([expected]);
});

it.each([
  ['fr', 'Une table pour quatre personnes demain soir à 20h, merci', [4]],
  ['fr', 'Il faut vingt-deux chaises, pas deux cents', [22, 200]],
  ['it', 'Un tavolo per ventuno persone', [21]],
  ['ru', 'Забронируй столик на четыре персоны', [4]],
  ['nl', 'Een tafel voor zes personen', [6]],
])('a number in words is known in a language of n2words: %s, %s', async (locale, message, expected) => {
  const { numbers } = await readSaid({ message, today, locale });
  expect(numbers.map(({ value }) => value)).toEqual(expect.arrayContaining(expected));
  expect(numbers.map(({ value }) => value)).not.toContain(20);
});

it('digits inside a name are no number, and those before a unit are one', async () => {
  const { numbers } = await read('Offers for the Sony WH-1000XM4 with less than 20mm, at most 3');
  expect(new Set(numbers.map(({ value }) => value))).toEqual(new Set([20, 3]));
});

it.each(['parse', 'strict', 'xx'])('a language %s that no library has is read as English', async (locale) => {
  const { times } = await readSaid({ message: 'Book a table tomorrow at 8 pm', today, locale });
  expect(times.map(({ start }) => start)).toEqual([{ date: '2026-11-24', time: '20:00:00' }]);
});

it.each([
  ['lines', '\n'.repeat(900)],
  ['blanks', ' '.repeat(900)],
  ['numbers', `${'17 '.repeat(200)}. `],
  ['sentences', 'The meeting was short, and it was dull. '.repeat(20)],
  ['a word without an end', `${'x'.repeat(700)} `],
])('what is said behind many %s is read as well', async (_, many) => {
  const { times, numbers } = await read(`${many}Book a table for four on Friday at 8 pm`);
  expect(times.at(-1)?.start).toEqual({ date: '2026-11-27', time: '20:00:00' });
  expect(numbers.map(({ value }) => value)).toContain(4);
});

it.each<[string, string, string[], string[]]>([
  ['since a weekday', 'commits since Friday', ['2026-11-20'], ['2026-11-27']],
  ['since a weekday, in Spanish', 'los pedidos desde el viernes', ['2026-11-20'], ['2026-11-27']],
  ['since a weekday, in Chinese', '周五以来的降雨', ['2026-11-20'], ['2026-11-27']],
  ['since a month', 'all sales since March', ['2026-03-01'], ['2027-03-01']],
  ['a week that has begun', 'the rooms from Monday to Wednesday', ['2026-11-23 2026-11-25'], ['2026-11-30 2026-12-02']],
  ['a weekday alone', 'a table on Friday', ['2026-11-27'], ['2026-11-27']],
])('is behind today for a tool that only reads, where the words leave it open: %s', async (_, message, past, next) => {
  const said = await readSaid({ message, today: '2026-11-24', timeZone: 'UTC' });
  const days = (risk: Risk) => {
    const { times, day } = timesFor({ risk }, said);
    return [times.map(({ start, end }) => [start.date, end?.date].filter(Boolean).join(' ')), day] as const;
  };
  const dayOf = (windows: string[]) => (windows[0]?.includes(' ') ? undefined : windows[0]);
  expect(days('low')).toEqual([past, dayOf(past)]);
  expect(days('medium')).toEqual([next, dayOf(next)]);
});

it('a day of the month in digits is one, in Chinese', async () => {
  const { times } = await readSaid({ message: '3号上午9点提醒我交房租', today: '2026-11-25' });
  expect(times).toEqual([{ text: '3号上午9点', start: { date: '2026-12-03', time: '09:00:00' } }]);
});

it.each([
  ['nearest to today, which may be past', '11月1日到11月15日的降雨', ['2026-11-01 2026-11-15']],
  ['nearest to today, in any language', 'Regen vom 1. November bis zum 15. November bitte', ['2026-11-01 2026-11-15']],
  [
    'in the year that the others are in',
    'Sales from January to October',
    ['2026-01-01 2026-01-31', '2026-10-01 2026-10-31'],
  ],
  ['once where it is an end', 'I need it until Friday', ['2026-11-27']],
  ['on its last day where it is the end of a month', 'Finish it by the end of the month', ['2026-11-30']],
  ['on its last day where its end is named, in another language', 'El balance a fin de septiembre', ['2026-09-30']],
  ['in the half that an early one names', 'A call in early September', ['2026-09-01 2026-09-15']],
  ['in whole months', 'the first half of 2027', ['2027-01-01 2027-06-30']],
])('a day lies %s', async (_, message, expected) => {
  expect(await daysIn(message)).toEqual(expected);
});

it.each([
  ['de', 'Stelle bitte den Timer für heute auf 90 Minuten', [5400]],
  ['ru', 'Забронируй переговорную на 2 часа сегодня', [7200]],
  ['ja', '会議室を2時間予約してください', [7200]],
  ['de, shortened', 'Den Raum bitte für 2 Std. buchen', [7200]],
  ['fr, in symbols, but no part of a name', 'Réserve la salle B12 h pour 45 min', [2700]],
  ['nl, but no time of day', 'Zet de wekker morgen om 15 uur', []],
  ['fr, in words', 'Les erreurs des deux heures passées', [7200]],
  ['ru, in words', 'Логи за три часа', [10_800]],
  ['de, in a case that its unit has no name for', 'Die Fehler in den letzten 7 Tagen', [604_800]],
  ['de, in words that chrono takes for a day', 'Die Logs der letzten zwei Tage', [172_800]],
])('a duration is known where no library reads it: %s', async (_, message, seconds) => {
  const { durations } = await read(message);
  expect(durations.map((one) => one.seconds)).toEqual(seconds);
});

it.each([
  [150, 'Rooms are there. Fly on December 1, 2024 and back on December 15, and bring all the guests.'],
  [170, 'Fly on December 1, 2024 and back on December 15'],
  [178, 'Fly on December 1, 2024 and back on December 15'],
])('a day and its year stay together in a long text, behind %d characters', async (length, text) => {
  const { times } = await read(`${'a quiet room with a view and '.repeat(8).slice(0, length)} ${text}`);
  expect(times.map(({ start }) => start.date)).toEqual(['2024-12-01', '2024-12-15']);
});

it('a day without its year has that of the line before', async () => {
  const { times } = await read(`${'A quiet room, please. '.repeat(8)}\nFrom 1 December 2027\nto 15 December`);
  expect(times.map(({ start }) => start.date)).toEqual(['2027-12-01', '2027-12-15']);
});

it.each([
  ['Issue the plan DP-PST-0721-02 tomorrow', ['2026-11-24']],
  ['下达方案 DP-PST-0721-02', []],
  ['Move it to 2026-12-05', ['2026-12-05']],
])('digits inside a name are no day: %s', async (message, days) => {
  expect(await daysIn(message)).toEqual(days);
});

it.each([
  ['de', 'Termine der letzten drei Monate', 3],
  ['fr', 'Les ventes des 3 derniers mois', 3],
])('a window up to today has its length in months: %s', async (_, message, months) => {
  const { durations } = await read(message);
  expect(durations).toMatchObject([{ months, seconds: 0 }]);
});

it.each([
  ['What was our revenue in Q3?', '2026-07-01'],
  ['Meet at nov 20 5pm', '2026-11-20'],
])('a time may look like a name: %s', async (message, date) => {
  const { times } = await read(message);
  expect(times.map(({ start }) => start.date)).toContain(date);
});

it('a name with digits parts what stands around it', async () => {
  const { times } = await read('Book INV-2026-0131 450 eur on nov 20, INV-2026-0140 1200 eur on nov 23');
  expect(times.map(({ start }) => start.date)).toEqual(expect.arrayContaining(['2026-11-20', '2026-11-23']));
});

it('a count before a name with digits is no time of day', async () => {
  const { times, numbers } = await read('Order two P-100 and one P-205');
  expect(times).toEqual([]);
  expect(numbers.map(({ value }) => value)).toEqual([2, 1]);
});

it.each([
  ['de', 'Eine Wohnung mit 2 bis 3 Zimmern', [2, 3]],
  ['ru', 'Оплати счета 702 и 704, а 703 пока придержи', [702, 704, 703]],
  ['fr', 'Appartements de 2 à 3 pièces', [2, 3]],
  ['zh', '12号房和14号房', [12, 14]],
  ['fr, in a list', 'Paie les factures 12 et 14', [12, 14]],
  ['fr, but not of a time with its unit', 'Taxi à 15h30', []],
  ['de, but not of a day', 'Ein Tisch am 5. Dezember', []],
])('numbers that may be hours or a count are numbers, too: %s', async (_, message, values) => {
  const { numbers } = await read(message);
  expect(numbers.map(({ value }) => value)).toEqual(values);
});

it.each([
  ['en, where no day is said', 'Wake me at 8 pm', ['2026-11-23T20:00:00Z']],
  ['en, behind its day', 'A table on December 24, please. We come at 7:30 pm', ['2026-12-24T19:30:00Z']],
  ['de', 'Reserviere am 24.12. um 19:30 einen Tisch', ['2026-12-24T19:30:00Z']],
  ['sv', 'Boka ett bord den 24 december klockan 19:30, tack', ['2026-12-24T19:30:00Z']],
  ['pt', 'Reserve uma mesa em 24 de dezembro às 19h30', ['2026-12-24T19:30:00Z']],
  ['nl', 'Reserveer een tafel op 24 december om 19u30', ['2026-12-24T19:30:00Z']],
  ['ja', '12月24日の19:30にレストランを予約して', ['2026-12-24T19:30:00Z']],
  ['ko, whose days only Unicode names', '내일 19:30에 식당을 예약해 줘', ['2026-11-24T19:30:00Z']],
  ['ko, a day that nobody reads', '11월 30일 19:30에 식당을 예약해 줘', []],
  ['of two days', 'On Friday and on Saturday. Each time at 8 pm', []],
  ['hr, of a word between two numbers', 'Rezerviraj stol za 4 u 20 sati', []],
])('a time of day is that of its day, else of no day: %s', async (_, message, expected) => {
  const said = await read(message);
  const whole = momentsIn('YYYY-MM-DDTHH:mm:ssZ', said, 'UTC').filter((moment) => !moment.includes('T00:00'));
  expect(whole).toEqual(expected);
});

it('a time of day is of the day that was said earlier', async () => {
  const history = [{ role: 'user' as const, content: 'A table for four on Friday' }];
  const said = await readSaid({ message: 'at 8 pm please', history, today });
  expect(momentsIn('YYYY-MM-DD HH:mm', said, 'UTC')).toContain('2026-11-27 20:00');
  expect(momentsIn('YYYY-MM-DD HH:mm', said, 'UTC')).not.toContain('2026-11-23 20:00');
});

it.each([
  ['de', 'Zeige mir alle Termine im Mai', '2027-05-01', '2027-05-31'],
  ['de, some months from now', 'Erinnere mich bitte in 2 Monaten an die Rechnung', '2027-01-23', undefined],
  ['nl', 'Laat mij alle afspraken in februari 2028 zien', '2028-02-01', '2028-02-29'],
  ['ru', 'Покажи все коммиты Олега за май', '2027-05-01', '2027-05-31'],
  ['pt', 'Mostre todas as vendas em março de 2025', '2025-03-01', '2025-03-31'],
  ['ja', '2025年5月の予定を見せて', '2025-05-01', '2025-05-31'],
  ['ko', '5월에 있는 일정을 전부 보여 줘', '2027-05-01', '2027-05-31'],
  ['ja, a day', '5月3日の予定を見せて', '2027-05-03', undefined],
  ['ko, a day that nobody reads', '5월 3일에 있는 일정을 전부 보여 줘', undefined, undefined],
  ['de, a name', 'Zeige mir alle Termine mit Maier', undefined, undefined],
])('a month or a year without a day is a window from its first to its last day: %s', async (_, message, start, end) => {
  const { times } = await read(message);
  expect(times.map((time) => [time.start.date, time.end?.date])).toEqual(start ? [[start, end]] : []);
});
