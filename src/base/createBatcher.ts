import { setImmediate } from 'node:timers/promises'
import { UnavailableError } from './errors/requestErrors.js'

/** A function that gives one item to the batcher and resolves to its result. */
export type Batcher<Item, Result> = (item: Item) => Promise<Result>

type Waiting<Item, Result> = {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** The pause after a commit of several items that are fewer than `MANY`, in milliseconds. */
const PAUSE = 15
/** So many items share the cost of a commit well enough. */
const MANY = 8

/**
 * A batcher whose items share a `commit` when they come at the same time: in one turn of the event loop, while a
 * commit runs, or in the pause after a commit of a few, so that a stream of items needs fewer commits. One that comes alone
 * does not wait. At most `maxItems` are committed together, in the order in which they came. When a commit of several
 * throws, each is tried by itself, so that one that cannot be committed harms no other; but with UnavailableError all
 * fail without another try.
 */
export function createBatcher<Item, Result>(
  commit: (items: readonly Item[]) => Promise<readonly Result[]>,
  maxItems: number,
): Batcher<Item, Result> {
  let waiting: Waiting<Item, Result>[] = []
  let running = false

  const settle = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await commit(batch.map(({ item }) => item))
      for (const [place, { resolve }] of batch.entries()) resolve(results[place]!)
    } catch (error) {
      if (batch.length > 1 && !(error instanceof UnavailableError))
        for (const item of batch) await settle([item])
      else for (const { reject } of batch) reject(error)
    }
  }

  const run = async (): Promise<void> => {
    running = true
    while (waiting.length > 0) {
      // On a busy process many items come in a turn; on an idle one it ends at once.
      if (waiting.length < maxItems) await setImmediate()
      const batch = waiting.slice(0, maxItems)
      waiting = waiting.slice(maxItems)
      await settle(batch)
      if (batch.length > 1 && batch.length < MANY && waiting.length < maxItems)
        await new Promise((resolve) => setTimeout(resolve, PAUSE))
    }
    running = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!running) void run()
    })
}
