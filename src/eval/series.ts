/**
 * The values of one metric: sum and number of tries a case. Most metrics have few different values, so that a case takes
 * one byte or two; one with very many, such as a time, takes ten.
 */

export interface Series {
  add(place: number, value: number): void;
  /** Undefined where the case has no value. */
  meanAt(place: number): number | undefined;
  triesAt(place: number): number;
  sumAt(place: number): number;
  /** Of all cases that have a value. */
  means(): Float64Array;
  /** One past the last place that has a value. */
  length(): number;
}

/** Where sums and tries lie. */
interface Cells {
  /** False: there is no room for a further pair of sum and tries, and nothing is changed. */
  add(place: number, value: number): boolean;
  sumAt(place: number): number;
  triesAt(place: number): number;
}

const FIRST_SIZE = 64;
/** Each has its own entry of some hundred bytes: with more of them the plain form is the smaller one. */
const MOST_STATES = 4_096;

export function createSeries(mostStates = MOST_STATES): Series {
  let cells = createCodedCells(mostStates);
  let length = 0;
  const meanAt = (place: number) => {
    const tries = cells.triesAt(place);
    return tries > 0 ? cells.sumAt(place) / tries : undefined;
  };
  return {
    add(place, value) {
      if (!cells.add(place, value)) {
        cells = createPlainCells(cells, length);
        cells.add(place, value);
      }
      length = Math.max(length, place + 1);
    },
    meanAt,
    triesAt: (place) => cells.triesAt(place),
    sumAt: (place) => cells.sumAt(place),
    means() {
      const found = new Float64Array(length);
      let count = 0;
      for (let place = 0; place < length; place++) {
        const mean = meanAt(place);
        if (mean !== undefined) found[count++] = mean;
      }
      return found.subarray(0, count);
    },
    length: () => length,
  };
}

/** A pair of sum and tries, and which one follows when a value is added. */
interface State {
  sum: number;
  tries: number;
  next: Map<number, number>;
}

/** A number a case that stands for its pair of sum and tries. */
function createCodedCells(mostStates: number): Cells {
  const states: State[] = [{ sum: 0, tries: 0, next: new Map() }];
  let codes: Uint8Array | Uint16Array = new Uint8Array(FIRST_SIZE);
  const room = (size: number) => grown(states.length > 256 ? new Uint16Array(size) : new Uint8Array(size), codes);
  const stateAt = (place: number) => states[codes[place] ?? 0];
  return {
    add(place, value) {
      const state = stateAt(place);
      if (!state) return false;
      let code = state.next.get(value);
      if (code === undefined) {
        if (states.length >= mostStates) return false;
        code = states.push({ sum: state.sum + value, tries: state.tries + 1, next: new Map() }) - 1;
        state.next.set(value, code);
        if (states.length === 257) codes = room(codes.length);
      }
      if (place >= codes.length) codes = room(Math.max(place + 1, codes.length * 2));
      codes[place] = code;
      return true;
    },
    sumAt: (place) => stateAt(place)?.sum ?? 0,
    triesAt: (place) => stateAt(place)?.tries ?? 0,
  };
}

/** Sum and tries of each case by themselves. */
function createPlainCells(before: Cells, length: number): Cells {
  const places = Array.from({ length }, (_, place) => place);
  let sums = Float64Array.from(places, before.sumAt);
  let tries = Uint16Array.from(places, before.triesAt);
  return {
    add(place, value) {
      if (place >= sums.length) {
        const size = Math.max(FIRST_SIZE, place + 1, sums.length * 2);
        sums = grown(new Float64Array(size), sums);
        tries = grown(new Uint16Array(size), tries);
      }
      sums[place] = (sums[place] ?? 0) + value;
      tries[place] = (tries[place] ?? 0) + 1;
      return true;
    },
    sumAt: (place) => sums[place] ?? 0,
    triesAt: (place) => tries[place] ?? 0,
  };
}

function grown<T extends Float64Array | Uint16Array | Uint8Array>(larger: T, smaller: ArrayLike<number>): T {
  larger.set(smaller);
  return larger;
}
