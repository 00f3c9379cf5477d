/**
 * Writes that follow their answers, one batch at a time: calls `write` `delay` milliseconds after something has
 * gathered, never twice at once, and again as long as `hasGathered`. `write` takes what has gathered and handles
 * its own failures.
 */
export function createWriteBehind({
  delay,
  hasGathered,
  write,
}: {
  readonly delay: number
  readonly hasGathered: () => boolean
  readonly write: () => Promise<void>
}) {
  let writing: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  /** Lets what has gathered be written soon; neither throws nor waits. */
  function schedule(): void {
    if (isStopped || timer !== undefined || writing !== undefined || !hasGathered()) return
    timer = setTimeout(() => {
      timer = undefined
      writing = write().finally(() => {
        writing = undefined
        schedule()
      })
    }, delay)
  }

  return {
    schedule,
    /** Writes what has gathered. What gathers afterwards is written no more: what is behind the writes is gone then. */
    async stop(): Promise<void> {
      isStopped = true
      clearTimeout(timer)
      await writing
      await write()
    },
  }
}
