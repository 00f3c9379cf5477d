/** Writes that follow their answers, one batch at a time. */
type WriteBehind = {
  /** Lets what has gathered be written soon; neither throws nor waits. */
  schedule(): void
  /** Writes what has gathered. What gathers afterwards is written no more: what is behind the writes is gone then. */
  stop(): Promise<void>
}

/**
 * Calls `write` `delay` milliseconds after something has gathered, never twice at once, and again as long as
 * `hasGathered`. `write` takes what has gathered and handles its own failures.
 */
export function createWriteBehind({
  delay,
  hasGathered,
  write,
}: {
  readonly delay: number
  readonly hasGathered: () => boolean
  readonly write: () => Promise<void>
}): WriteBehind {
  let writing: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

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
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await writing
      await write()
    },
  }
}
