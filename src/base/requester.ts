/** The party for whose request the process works. Parties of the same name share what a party may take. */
export type Requester = {
  readonly name: string
  /** When its request came, in milliseconds of `performance.now()`. */
  readonly since: number
  /** Milliseconds for which its request has kept a thread. */
  readonly spent: number
  /** Adds milliseconds for which its request kept a thread. */
  spend(milliseconds: number): void
  /** Called before work that takes long. Throws RateLimitError where the party has too much of it under way. */
  beginHeavyWork(): void
}

/** The party that replays work for: nobody's request waits behind them, nor the validations of the next bundle. */
export const replays: Requester = {
  name: 'replays',
  since: 0,
  spent: 0,
  spend() {},
  beginHeavyWork() {},
}
