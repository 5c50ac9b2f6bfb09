/** What tokens cost: a table of prices a million tokens, by model. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { messageOf, WinnowError } from '../core/errors.js';
import type { Stage, Usage } from '../core/model/model.js';
import { parseAs } from '../core/parse.js';
import { modelsOf } from './model-pair.js';
import { currencySchema } from './run-summary.js';

const amount = z.number().min(0);
const priceSchema = z.strictObject({ read: amount, cached: amount.optional(), written: amount });
type Price = z.infer<typeof priceSchema>;

const priceTableSchema = z.strictObject({
  currency: currencySchema.default('USD'),
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
  /** A model, or a pair of them as `pairId` names it. @throws WinnowError `invalid_option` where the table has no such model */
  of(modelId: string): Prices;
}

const MILLION = 1_000_000;

/** @throws WinnowError `invalid_option` naming the file and what is wrong */
export async function loadPrices(path: string): Promise<PriceTable> {
  const problem = `The price table ${path} is not usable`;
  const place = { code: 'invalid_option', problem, root: 'file' } as const;
  const { currency, models } = parseAs(priceTableSchema, await readJson(path), place);
  return {
    currency,
    of(modelId) {
      const rowOf = (name: string): Price => {
        const row = models[name];
        if (row) return row;
        const known = Object.keys(models).join(', ');
        throw new WinnowError('invalid_option', `The price table ${path} has no model "${name}"; it has ${known}.`);
      };
      const { selection, planning } = models[modelId] ? { selection: modelId, planning: modelId } : modelsOf(modelId);
      const [ofSelection, ofPlanning] = [rowOf(selection), rowOf(planning)];
      return {
        currency,
        costOf: (usage) => (price(usage.selection, ofSelection) + price(usage.planning, ofPlanning)) / MILLION,
      };
    },
  };
}

function price({ read, cached, written }: Usage, row: Price): number {
  return read * row.read + cached * (row.cached ?? row.read) + written * row.written;
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    const why = messageOf(error);
    throw new WinnowError('invalid_option', `The price table ${path} can't be read: ${why}.`, { cause: error });
  }
}
