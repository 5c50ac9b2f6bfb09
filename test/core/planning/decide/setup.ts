/** Plans by deciding with a scripted reader: the texts that the model would write at each prompt, with their probabilities. */
import type { Tool } from '../../../../src/core/catalog/tool.js';
import type { OptionsInput } from '../../../../src/core/options.js';
import type { PlanRequest } from '../../../../src/core/request.js';
import { createScriptedModel } from '../../../support/scripted-model.js';
import { plannerOf } from '../../selection/setup.js';

/** One text behind the opening, or several with probabilities. */
export type Answer = string | Readonly<Record<string, number>>;

/** What goes on from what is written, among whole texts. */
export function answering(answer: Answer): (written: string) => ReadonlyMap<string, number> {
  const texts = Object.entries(typeof answer === 'string' ? { [answer]: 1 } : answer);
  return (written) => {
    const fitting = texts.filter(([text]) => text.startsWith(written));
    const total = fitting.reduce((sum, [, probability]) => sum + probability, 0);
    return new Map(fitting.map(([text, probability]) => [text.slice(written.length), probability / total]));
  };
}

export interface Script {
  /** Default: one thing is asked for. */
  asks?: Answer;
  /** The names that selection ranks, by the request or one ask of several. Default: all alike. */
  selects?: Answer | ((message: string) => Answer);
  /** By the message that is read: the request, or an ask alone. */
  tool: Answer | ((message: string) => Answer);
  /** Whether a tool does what is asked for, by its name. Default: it does. */
  fits?: Readonly<Record<string, Answer | ((message: string) => Answer)>>;
  /** Whether the call for an ask before it does a later ask, by the later one. Default: another call does. */
  joins?: (ask: string) => Answer;
  /** The values for which a call is wanted, by the call: `weather(place)`. Default: the model is undecided, so there is no further one. */
  sorts?: (call: string) => Answer;
  /** Without a request. Default: no tool is meant, "yes" is as likely as "no", and an argument may have any value. */
  unasked?: { tool?: Answer | undefined; fits?: Readonly<Record<string, Answer>>; arguments?: Answer };
  /** By the name of the tool. Default: no argument. */
  arguments?: Readonly<Record<string, Answer | ((message: string) => Answer)>>;
}

export function scripted(script: Script) {
  const {
    asks = '1}',
    selects = {},
    tool,
    fits = {},
    joins = () => 'other call"}',
    sorts = () => ({}),
    unasked = {},
    arguments: values = {},
  } = script;
  return createScriptedModel({
    readers: ({ about, opening }) => {
      const { message = '', tool: shown = '', call = '' } = Object(about?.variables);
      const name = String(shown).split(/[(:]/u)[0] ?? '';
      const answers = {
        'split-asks': asks,
        'select-tools': selects,
        'choose-tool': tool,
        'check-fit': fits[name] ?? 'yes"}',
        'same-call': () => joins(JSON.parse(`${opening}"}`).part),
        'sort-values': sorts(call),
        'fill-arguments': values[name] ?? '}',
      };
      const given = Object.entries(answers).find(([prompt]) => prompt === about?.promptName)?.[1];
      if (message === '') {
        const even = { 'yes"}': 1, 'no"}': 1 };
        const readings: Readonly<Record<string, ReturnType<typeof answering>>> = {
          'choose-tool': answering(unasked.tool ?? chooses('', 'none')),
          'check-fit': answering(unasked.fits?.[name] ?? even),
          'fill-arguments': answering(unasked.arguments ?? {}),
        };
        const probabilities = readings[String(about?.promptName)];
        if (probabilities) return { probabilities };
      }
      if (given === undefined) throw new Error(`nothing is scripted for ${about?.promptName}`);
      return { probabilities: answering(typeof given === 'function' ? given(message) : given) };
    },
  });
}

/** With the steps of a plan, and their tools. */
export async function decide(
  tools: readonly Tool[],
  request: PlanRequest | string,
  { options = {}, ...script }: Script & { options?: OptionsInput },
) {
  const asked = typeof request === 'string' ? { message: request } : request;
  const model = scripted(script);
  const planner = plannerOf({ tools, model, options: { passthroughTools: 50, ...options } });
  const result = await planner.plan({ today: '2026-11-23', timeZone: 'UTC', ...asked });
  model.assertDone();
  const prompts = model.readerCalls.map(({ about }) => about?.promptName);
  const steps: readonly { tool: string; purpose: string; arguments: object }[] = Object(result).steps ?? [];
  return { result, steps, called: steps.map(({ tool }) => tool), prompts, model };
}

/** A name for one ask, as the model would write it. */
export const chooses = (ask: string, tool: string) => `${JSON.stringify(ask)}, "tool": "${tool}"}`;
