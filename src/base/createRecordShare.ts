/** Records of one name that are kept per second, over ten seconds; a caller can make any number. */
const PER_SECOND = 5
const WINDOW = 10_000
const PER_WINDOW = (PER_SECOND * WINDOW) / 1_000

/** Whether one more record of this name is kept. */
export type RecordShare = (name: string) => boolean

/** Gives each name, such as an app, the same share of what one process records. */
export function createRecordShare(): RecordShare {
  let windowStart = 0
  const inWindow = new Map<string, number>()
  return (name) => {
    const now = performance.now()
    if (now - windowStart >= WINDOW) {
      windowStart = now
      inWindow.clear()
    }
    const count = (inWindow.get(name) ?? 0) + 1
    inWindow.set(name, count)
    return count <= PER_WINDOW
  }
}
