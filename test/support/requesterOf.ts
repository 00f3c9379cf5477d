import type { Requester } from '../../src/base/requester.js'

/** A party of this name, which sums up what its request spends. */
export function requesterOf(name: string): Requester {
  let spent = 0
  return {
    name,
    since: 0,
    get spent() {
      return spent
    },
    spend(milliseconds) {
      spent += milliseconds
    },
    beginHeavyWork() {},
  }
}
