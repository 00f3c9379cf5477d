/** The time of this machine in whole Unix seconds. */
export function unixNow(): number {
  return Math.floor(Date.now() / 1000)
}

/** The end of the times that a date can show, in Unix seconds. */
const LAST_DATE = 8_640_000_000_000

/** Unix seconds for a message, with the date that a person reads. */
export function timeText(seconds: number): string {
  return seconds > LAST_DATE
    ? `${seconds}`
    : `${seconds} (${new Date(seconds * 1_000).toISOString()})`
}
