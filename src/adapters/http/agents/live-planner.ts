/** A planner over a catalogue that changes: each request is planned with the tools of now. */
import type { Catalog } from '../../../core/catalog/catalog.js';
import type { Planner } from '../../../core/planner.js';

export interface LivePlannerParts {
  catalog: () => Catalog;
  /** Asked once for each catalogue. */
  plannerOf: (catalog: Catalog) => Planner;
}

export function createLivePlanner({ catalog, plannerOf }: LivePlannerParts): Planner {
  let kept: { of: Catalog; planner: Planner } | undefined;
  const current = (): Planner => {
    const of = catalog();
    if (kept?.of !== of) kept = { of, planner: plannerOf(of) };
    return kept.planner;
  };
  return {
    plan: (request, call) => current().plan(request, call),
    select: (request, call) => current().select(request, call),
    view: (request) => current().view(request),
  };
}
