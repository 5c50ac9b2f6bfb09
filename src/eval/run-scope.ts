/** What a run is of: one stage alone, or not all of its cases. Figures of another scope do not say the same. */
import { z } from 'zod';
import type { RunSummary } from './run-summary.js';

const scopeSchema = z.object({
  only: z.enum(['all', 'select', 'plan']).catch('all'),
  candidates: z.enum(['all', 'only']).catch('all'),
  filter: z
    .object({
      sample: z.int(),
      seed: z.int(),
      limit: z.int(),
      tags: z.array(z.string()),
      failingOf: z.string(),
    })
    .partial()
    .catch({}),
});

export type Only = z.infer<typeof scopeSchema>['only'];

/** Which stages were judged, and so what `right` means. */
export function onlyOf({ settings }: Pick<RunSummary, 'settings'>): Only {
  return scopeSchema.parse(settings).only;
}

/** In a few words each, such as `select only` and `sample 12 (seed 1)`. Empty: both stages, on all cases. */
export function scopeOf({ settings }: Pick<RunSummary, 'settings'>): string[] {
  const { only, candidates, filter } = scopeSchema.parse(settings);
  const { sample, seed, limit, tags, failingOf } = filter;
  return [
    only === 'all' ? [] : `${only} only`,
    candidates === 'all' ? [] : 'candidates only',
    tags === undefined ? [] : `tag ${tags.join(', ')}`,
    failingOf === undefined ? [] : `failing of ${failingOf}`,
    sample === undefined ? [] : `sample ${sample} (seed ${seed})`,
    limit === undefined ? [] : `first ${limit}`,
  ].flat();
}
