/** What tokens cost: a table of prices a million tokens, by model. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { WinnowError } from '../errors.js';
import type { Usage } from '../model/model.js';

const price = z.number().min(0);
const priceTableSchema = z.strictObject({
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/u, 'must be a code of three letters, such as USD')
    .default('USD'),
  models: z
    .record(z.string(), z.strictObject({ read: price, cached: price.optional(), written: price }))
    .describe('Name of the model -> price of a million tokens. `cached` defaults to the price of `read`.'),
});

export interface Prices {
  readonly currency: string;
  costOf(usage: Usage): number;
}

export interface PriceTable {
  readonly currency: string;
  /** @throws WinnowError `invalid_option` where the table has no such model */
  of(modelId: string): Prices;
}

const MILLION = 1_000_000;

/** @throws WinnowError `invalid_option` naming the file and what is wrong */
export async function loadPrices(path: string): Promise<PriceTable> {
  const parsed = priceTableSchema.safeParse(await readJson(path));
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'file'}: ${issue.message}`);
    throw new WinnowError('invalid_option', `The price table ${path} is not usable: ${issues.join('; ')}.`, { issues });
  }
  const { currency, models } = parsed.data;
  return {
    currency,
    of(modelId) {
      const row = models[modelId];
      if (!row) {
        const known = Object.keys(models).join(', ');
        throw new WinnowError('invalid_option', `The price table ${path} has no model "${modelId}"; it has ${known}.`);
      }
      return {
        currency,
        costOf: ({ read, cached, written }) =>
          (read * row.read + cached * (row.cached ?? row.read) + written * row.written) / MILLION,
      };
    },
  };
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new WinnowError('invalid_option', `The price table ${path} can't be read: ${why}.`, { cause: error });
  }
}
