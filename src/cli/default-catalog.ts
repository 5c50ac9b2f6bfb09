/** The catalogue that comes with the package, for a first try without one of your own. */
import { fileURLToPath } from 'node:url';

/** `src/cli` and `dist/cli` lie equally deep below the package root. */
export function defaultCatalogPath(): string {
  return fileURLToPath(new URL('../../fixtures/catalogs/hydrology.json', import.meta.url));
}

/** Told where nobody named a catalogue, so that no answer about the example is taken for one about their own tools. */
export function exampleNotice(name: string): string {
  return `Catalogue: the example "${name}" that comes with Winnow; yours with --catalog.\n`;
}
