/** Means with percentile bootstrap intervals (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993). */

export function mean(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length);
}

/** 95 %, 2,000 resamples, always the same ones. */
export function bootstrapInterval(numbers, resamples = 2000) {
  let state = 12345;
  const random = () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
  const means = Array.from({ length: resamples }, () =>
    mean(numbers.map(() => numbers[Math.floor(random() * numbers.length)])),
  );
  means.sort((a, b) => a - b);
  return [means[Math.floor(resamples * 0.025)], means[Math.floor(resamples * 0.975)]];
}
