/** Types of `rounds.mjs`, for those that are checked. */
export interface Failures {
  readonly count: number;
  /** Words of the first. */
  readonly first: string | undefined;
}
export type CountedRun<Case> = (one: Case) => Promise<boolean>;
export function countFailures<Case>(run: (one: Case) => Promise<unknown>): {
  run: CountedRun<Case>;
  failures: Failures;
};
export function messageOf(error: unknown): string;
export function oneAfterTheOther<Case>(
  run: CountedRun<Case>,
  cases: readonly Case[],
  requests: number,
): Promise<{ ms: number; cpuMs: number }>;
export function sideBySide<Case>(
  run: CountedRun<Case>,
  cases: readonly Case[],
  options: { total: number; concurrency: number },
): Promise<number>;
