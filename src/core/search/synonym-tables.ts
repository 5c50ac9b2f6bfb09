/** The tables that searches use: the general synonyms, and on top of them those of a catalogue. */
import { GENERAL_SYNONYMS } from './general-synonyms.js';
import { createSynonymTable, GENERAL_WEIGHT, OWN_WEIGHT, type Synonyms, type SynonymTable } from './synonyms.js';

/** Read at its first use, which takes a twentieth of a second: not every process that plans comes to search. */
export const generalTable = lazily(() => createSynonymTable([GENERAL]));

const GENERAL = { synonyms: GENERAL_SYNONYMS, weight: GENERAL_WEIGHT };

/** @param own of the catalogue's trade; they count more than the general ones */
export function tableWith(own: Synonyms): SynonymTable {
  return own.length === 0 ? generalTable() : createSynonymTable([GENERAL, { synonyms: own, weight: OWN_WEIGHT }]);
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
