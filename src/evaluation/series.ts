/** The values of one metric: sum and number of tries a case, ten bytes a case however many there are. */

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

const FIRST_SIZE = 64;

export function createSeries(): Series {
  let sums = new Float64Array(FIRST_SIZE);
  let tries = new Uint16Array(FIRST_SIZE);
  let length = 0;
  const meanAt = (place: number) => ((tries[place] ?? 0) > 0 ? (sums[place] ?? 0) / (tries[place] ?? 1) : undefined);
  return {
    add(place, value) {
      if (place >= sums.length) {
        const size = Math.max(place + 1, sums.length * 2);
        sums = grown(new Float64Array(size), sums);
        tries = grown(new Uint16Array(size), tries);
      }
      sums[place] = (sums[place] ?? 0) + value;
      tries[place] = (tries[place] ?? 0) + 1;
      length = Math.max(length, place + 1);
    },
    meanAt,
    triesAt: (place) => tries[place] ?? 0,
    sumAt: (place) => sums[place] ?? 0,
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

function grown<T extends Float64Array | Uint16Array>(larger: T, smaller: T): T {
  larger.set(smaller);
  return larger;
}
