import type { Address } from 'viem'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { Head } from '../chain/head.js'
import type { Database } from '../store/database.js'
import { putBundleSize } from '../store/outbox/bundleSizes.js'
import { reachedSize, TRAFFIC_WINDOW } from './fees/reachedSize.js'

/** The bundler's memory of its traffic, from which estimates take the size of bundle to reckon with. */
export type SizeWatch = {
  /** Notes when operations came that go in a bundle. */
  note(entryPoint: Address, receivedAt: readonly Date[]): void
  /** Stores the sizes of now, for all processes; does nothing when it did so a moment ago. */
  tell(head: Head): Promise<void>
}

type WatchContext = {
  readonly database: Database
  readonly definition: Pick<ChainDefinition, 'chainId' | 'maxBundleWait'>
  /** The time in Unix milliseconds. */
  readonly now: () => number
}

/** Milliseconds between two looks. A size above 1 is stored at each: it is believed for 20 s. */
const TELL_EVERY = 5_000

/** Makes a watch that knows nothing yet: a new bundler tells 1 until it has seen traffic for some minutes. */
export function createSizeWatch({ database, definition, now }: WatchContext): SizeWatch {
  const { chainId, maxBundleWait } = definition
  const since = now()
  const arrivals = new Map<Address, number[]>()
  const told = new Map<Address, number>()
  let heads: Pick<Head, 'number' | 'timestamp'>[] = []
  let toldAt = Number.NEGATIVE_INFINITY

  return {
    note(entryPoint, receivedAt) {
      const known = arrivals.get(entryPoint) ?? []
      known.push(...receivedAt.map((date) => date.getTime()))
      arrivals.set(entryPoint, known)
    },
    async tell(head) {
      const time = now()
      if (time - toldAt < TELL_EVERY) return
      toldAt = time
      const oldest = time / 1_000 - TRAFFIC_WINDOW / 1_000
      heads = [...heads.filter(({ timestamp }) => timestamp > oldest), head]
      const blockTime = blockTimeOf(heads)
      for (const [entryPoint, times] of arrivals) {
        const recent = times.filter((at) => at > time - TRAFFIC_WINDOW)
        arrivals.set(entryPoint, recent)
        const size = reachedSize({ arrivals: recent, since, blockTime }, time, maxBundleWait)
        if (size > 1 || (told.get(entryPoint) ?? 1) > 1)
          await putBundleSize(database, chainId, entryPoint, size)
        told.set(entryPoint, size)
      }
    },
  }
}

/** Milliseconds between blocks on average; 0 while only one is known. */
function blockTimeOf(heads: readonly Pick<Head, 'number' | 'timestamp'>[]): number {
  const [first] = heads
  const last = heads.at(-1)
  if (first === undefined || last === undefined || last.number <= first.number) return 0
  return ((last.timestamp - first.timestamp) * 1_000) / Number(last.number - first.number)
}
