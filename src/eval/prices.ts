/** Prices of a million tokens, by model. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { messageOf, WinnowError } from '../core/errors.js';
import type { Stage, Usage } from '../core/model/model.js';
import { parseAs } from '../core/parse.js';

const amount = z.number().min(0);
const priceSchema = z.strictObject({ read: amount, cached: amount.optional(), written: amount });

const priceTableSchema = z.strictObject({
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/u, 'must be a code of three letters, such as USD')
    .default('USD'),
  models: z
    .record(z.string(), priceSchema)
    .describe('Name of the model -> price of a million tokens. `cached` defaults to the price of `read`.'),
});

export interface Prices {
  readonly currency: string;
  costOf(usage: Readonly<Record<Stage, Usage>>): number;
}

export interface PriceTable {
  readonly currency: string;
  /** @param modelId a model, or two as `pairId` names them. @throws WinnowError `invalid_option` for a model without prices */
  of(modelId: string): Prices;
}

const AND = ' + ';

/** Id of the selection model, joined with the planning model where there is one. */
export function pairId(selection: string, planning: string | undefined): string {
  return planning === undefined ? selection : `${selection}${AND}${planning}`;
}

/** @throws WinnowError `invalid_option` naming file and problem */
export async function loadPrices(path: string): Promise<PriceTable> {
  const problem = `The price table ${path} is not usable`;
  const place = { code: 'invalid_option', problem, root: 'file' } as const;
  const { currency, models } = parseAs(priceTableSchema, await readJson(path), place);
  const priceOf = (name: string) => {
    const price = models[name];
    if (!price) {
      const known = Object.keys(models).join(', ');
      throw new WinnowError('invalid_option', `The price table ${path} has no model "${name}"; it has ${known}.`);
    }
    return ({ read, cached, written }: Usage) =>
      (read * price.read + cached * (price.cached ?? price.read) + written * price.written) / 1_000_000;
  };
  return {
    currency,
    of(modelId) {
      const [selection = modelId, planning = selection] = models[modelId] ? [modelId] : modelId.split(AND);
      const [ofSelection, ofPlanning] = [priceOf(selection), priceOf(planning)];
      return { currency, costOf: (usage) => ofSelection(usage.selection) + ofPlanning(usage.planning) };
    },
  };
}

async function readJson(path: string): Promise<unknown> {
  try {
    // `trim` also removes a byte order mark.
    return JSON.parse((await readFile(path, 'utf8')).trim());
  } catch (cause) {
    throw new WinnowError('invalid_option', `The price table ${path} can't be read: ${messageOf(cause)}.`, { cause });
  }
}
