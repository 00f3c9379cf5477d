/** Work that is done in rounds, one after the other. */
export type Rounds = {
  /** Asks for a round that begins after this call; those that nobody has begun yet are one. */
  ask(): void
  /** Resolves when no round is under way or asked for. */
  idle(): Promise<void>
  /** Resolves when the round under way has ended; no other begins. */
  stop(): Promise<void>
}

/** `round` handles its own failures: it must not reject. */
export function createRounds(round: () => Promise<void>): Rounds {
  let asked = false
  let stopped = false
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    while (asked && !stopped) {
      asked = false
      // Waiting even for a round that has nothing to wait for: `running` is set by then, and ends
      // here before anyone can ask again.
      await round()
    }
    running = undefined
  }

  return {
    ask() {
      asked = true
      if (!stopped) running ??= run()
    },
    idle: async () => running,
    async stop() {
      stopped = true
      await running
    },
  }
}
