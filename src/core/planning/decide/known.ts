/** What the request and the steps so far say for the arguments of a step. */
import { identifiersIn, isGiven } from '../../catalog/identifiers.js';
import { producerGraph } from '../../catalog/producers.js';
import { fittedSchemas } from '../../catalog/schema/normalise.js';
import type { Tool } from '../../catalog/tool.js';
import { oneLine } from '../../visible-text.js';
import type { ToolOfAsk } from './choose-tools.js';
import { type Draft, referredIn } from './drafts.js';
import { reference, saidIn } from './needs.js';
import { MAX_CHARACTERS, type Settling, spansOf, type TakenWords, takesField, wordBounds } from './options.js';
import type { Deciding } from './read.js';
import { readSaid, timesFor } from './said.js';
import { paragraphsOf, setApartIn } from './set-apart.js';
import { type Candidate, openReference, resultFields, type SourceContext } from './sources.js';
import { type Served, stepPrompt } from './step-prompt.js';

/** What the request says for one tool. */
type SaidFor = Omit<SourceContext, 'results'>;

export type Known = Awaited<ReturnType<typeof readKnown>>;

/** @param drafts the steps so far; later ones count, too */
export async function readKnown(chosen: readonly ToolOfAsk[], drafts: readonly Draft[], parts: Deciding) {
  const { request, view, context } = parts;
  const asks = [...new Set(chosen.map(({ ask }) => ask))];
  // An ask that the model completed from the history may name a day in full, in place of that of an earlier message.
  const all = await readSaid({
    ...request,
    message: [...new Set([request.message, ...asks.map(parts.asked.restore)])].join('\n'),
  });
  const said = asks.some((ask) => ask !== parts.message) ? withoutReplaced(all) : all;
  const earlier = spansOf((request.history ?? []).map(({ content }) => oneLine(content)));
  const apart = setApartIn(request.message);
  const message = oneLine(request.message);
  const isLong = message.length > MAX_CHARACTERS;
  const paragraphs = isLong ? [message] : paragraphsOf(request.message);
  const entities = Object.values(request.entities ?? {}).filter((value) => typeof value === 'string');
  return { saidFor, ownOf, partOf, promptFor, results, takenBy };

  function saidFor(tool: Tool, ask: string): SaidFor {
    const whole = saidIn(request, ask);
    const handles = producerGraph(view).identifiersOf(tool).toReversed();
    const handleOf = (one: (typeof handles)[number]) => ({
      isGiven: isGiven(one, { ...request, message: whole }),
      codes: identifiersIn(whole, one),
    });
    return {
      said: timesFor(tool, said),
      // Without a history, words that only the ask has are the model's own.
      texts: [...new Set([...(earlier.length > 0 ? [ask] : []), ...entities, ...paragraphs])],
      elsewhere: paragraphs.length > 1 ? [message] : [],
      apart: apart.filter(({ value }) => !drafts.some((draft) => Object.values(draft.arguments).includes(value))),
      earlier,
      // Of equal names the outer one counts.
      handles: new Map(handles.map((one) => [one.name, handleOf(one)])),
      timeZone: request.timeZone,
    };
  }

  /** The same without the words and numbers of other asks; days and times hold for all. */
  function ownOf(whole: SaidFor, ask: string): SaidFor {
    const others = asks.filter((one) => one !== parts.message && !one.includes(ask));
    if (ask === parts.message || others.length === 0 || isLong) return whole;
    const own = (text: string) => (paragraphs.includes(text) ? ownWords(text, { ask, others }) : [text]);
    const texts = whole.texts.flatMap(own);
    return onlyWith(texts, whole, [ask, ...texts]);
  }

  /** The same with the words and numbers of a part of the request alone. */
  function partOf(whole: SaidFor, words: string): SaidFor {
    return { ...onlyWith([words], whole), apart: [] };
  }

  function promptFor(tool: Tool, { ask, serves }: { ask: string; serves?: Served | undefined }, settling: Settling) {
    const isOffered = takesField(tool, settling);
    const offeredBy = (draft: Draft) => resultFields(fittedSchemas(draft.tool).output).filter(isOffered);
    const before = drafts.map((draft) => ({ ...draft, offered: offeredBy(draft) }));
    return stepPrompt(tool, {
      ask: parts.asked.restore(ask),
      serves,
      said: timesFor(tool, all),
      earlier: before,
      context,
    });
  }

  function results(): SourceContext['results'] {
    return drafts.flatMap(({ id, tool }): SourceContext['results'] => {
      const { output } = fittedSchemas(tool);
      if (output === undefined) return [{ reference: openReference(id), schema: undefined }];
      return resultFields(output).map(({ path, schema }) => ({ reference: reference(id, path), schema }));
    });
  }

  /** Words used to find a thing count as used for its consumer, except numbers and times of an argument of the same name. */
  function takenBy(settled: ReadonlyMap<string, Candidate>, tool: Tool): TakenWords {
    const own = Object.keys(Object(fittedSchemas(tool).input.properties));
    const found = referredIn([...settled.values()], drafts).flatMap(({ taken }) => [...taken]);
    return new Map(found.filter(([, argument]) => argument === undefined || !own.includes(argument)));
  }
}

/** Without the days and times of earlier messages in whose place the request has others: "no, better at 11". */
function withoutReplaced(said: SaidFor['said']): SaidFor['said'] {
  const own = said.times.filter(({ isEarlier }) => !isEarlier);
  const hasOwn = (kind: 'date' | 'time') => own.some(({ start }) => start[kind] !== undefined);
  const [hasDay, hasTime] = [hasOwn('date'), hasOwn('time')];
  const isReplaced = ({ start, isEarlier }: (typeof own)[number]) =>
    isEarlier && ((hasDay && start.date !== undefined) || (hasTime && start.time !== undefined));
  return { ...said, times: said.times.filter((time) => !isReplaced(time)) };
}

function onlyWith(texts: readonly string[], whole: SaidFor, holders = texts): SaidFor {
  const own = holders.map((text) => text.toLowerCase());
  const isOwn = ({ text }: { text: string }) => own.some((one) => one.includes(text.toLowerCase()));
  return {
    ...whole,
    texts,
    elsewhere: [...whole.elsewhere, ...whole.texts],
    said: { ...whole.said, numbers: whole.said.numbers.filter(isOwn) },
  };
}

/**
 * The message without the words that other asks have and this one has not: "encrypt the BMI" has no use for the weight of the
 * ask before it. Words of no ask belong to all.
 *
 * @returns the parts between those words, in order
 * @example ownWords('weather in Oslo, then book a table', { ask: 'book a table', others: ['weather in Oslo'] })
 * // [', then book a table']
 */
export function ownWords(message: string, { ask, others }: { ask: string; others: readonly string[] }): string[] {
  const own = wordsIn(ask);
  const foreign = new Set(others.flatMap((other) => [...wordsIn(other)]).filter((word) => !own.has(word)));
  const parts: string[] = [];
  let start = 0;
  for (const bound of wordBounds(message)) {
    if (!foreign.has(message.slice(bound.start, bound.end).toLowerCase())) continue;
    parts.push(message.slice(start, bound.start));
    start = bound.end;
  }
  return [...parts, message.slice(start)].filter((part) => part.trim() !== '');
}

function wordsIn(text: string): Set<string> {
  return new Set(wordBounds(text).map(({ start, end }) => text.slice(start, end).toLowerCase()));
}
