import { workForItself } from '../base/requester.js'

/** Rounds of work, one after the other. */
export type Rounds = {
  /** Requests a round that begins after this call; requests before it begins share one round. */
  request(): void
  /** Resolves when no round is under way or requested. */
  idle(): Promise<void>
  /** Resolves when the round under way has ended; no other begins. */
  stop(): Promise<void>
}

/**
 * Rounds that run `round`, which handles its own failures: it must not reject. A round is work of the
 * service itself, whoever's request led to it.
 */
export function createRounds(round: () => Promise<void>): Rounds {
  let requested = false
  let stopped = false
  let running: Promise<void> | undefined

  async function run(): Promise<void> {
    while (requested && !stopped) {
      requested = false
      // Waiting even for a round that has nothing to wait for: `running` is set by then, and ends
      // here before another request can come.
      await round()
    }
    running = undefined
  }

  return {
    request() {
      requested = true
      if (!stopped) running ??= workForItself(run)
    },
    idle: async () => running,
    async stop() {
      stopped = true
      await running
    },
  }
}
