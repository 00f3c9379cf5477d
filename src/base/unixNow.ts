/** The time of this machine in whole Unix seconds. */
export function unixNow(): number {
  return Math.floor(Date.now() / 1000)
}
