/** Whether random and stored cases run in full: `npm run test:long` does that, `npm test` a share. */
export const RUNS_IN_FULL = process.env.PURSER_RUNS === 'full'

const SHARE = 5

/** The number of random runs of a test that makes `count` of them in full. */
export function randomRuns(count: number): number {
  return RUNS_IN_FULL ? count : Math.ceil(count / SHARE)
}

/** The cases of a test that takes all `cases` in full: else every fifth of them, the same ones each time. */
export function shareOf<T>(cases: readonly T[]): readonly T[] {
  return RUNS_IN_FULL ? cases : cases.filter((_, index) => index % SHARE === 0)
}
