/**
 * Says on the terminal that a secret was given as a flag. Every user of the machine can read the arguments
 * of a process, and shells keep them.
 */
export function warnOfSecret(flag: string, otherWays: string): void {
  console.error(`Warning: others on this machine can read what ${flag} says; use ${otherWays}.`)
}
