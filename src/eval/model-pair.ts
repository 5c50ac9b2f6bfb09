/** Two models that share the work go by one name: in the settings of a run, between workers, in the table of prices. */
import type { Stage } from '../core/model/model.js';

const AND = ' + ';

/** @param planning none: one model does both */
export function pairId(selection: string, planning: string | undefined): string {
  return planning === undefined ? selection : `${selection}${AND}${planning}`;
}

/** The model of each stage. */
export function modelsOf(id: string): Record<Stage, string> {
  const [selection = id, planning = selection] = id.split(AND);
  return { selection, planning };
}
