import type { Logger } from 'pino'
import { createStateLog } from '../../base/stateLog.js'
import type { HeadFollower } from '../headFollower.js'

/** A block's header as the node gives it. */
type BlockHeader = Readonly<Record<string, unknown>>

/** What a block has beyond its header, and `newHeads` of nodes do not. */
const beyondHeader: ReadonlySet<string> = new Set([
  'size',
  'totalDifficulty',
  'transactions',
  'uncles',
  'withdrawals',
])

type Options = {
  readonly heads: Pick<HeadFollower, 'onHead'>
  /** The block with this number, without its transactions; null when the node has none. */
  readonly readBlock: (number: bigint) => Promise<BlockHeader | null>
  readonly logger: Logger
}

/**
 * Headers of new heads, read once however many listen, and only while one does. While a read takes long, heads
 * are passed over: the newest one is what counts.
 */
export function createHeaderNews({ heads, readBlock, logger }: Options) {
  const listeners = new Set<(header: BlockHeader) => void>()
  const state = createStateLog(logger, 'no headers for subscriptions', 'headers arrive again')
  let newest: bigint | undefined
  let isReading = false

  async function readNewest(): Promise<void> {
    if (isReading) return
    isReading = true
    while (newest !== undefined) {
      const number = newest
      newest = undefined
      try {
        const block = await readBlock(number)
        state.back()
        if (block === null) continue
        const fields = Object.entries(block).filter(([name]) => !beyondHeader.has(name))
        const header = Object.fromEntries(fields)
        for (const listener of listeners) listener(header)
      } catch (error) {
        state.away({ err: error })
      }
    }
    isReading = false
  }

  heads.onHead(({ head }) => {
    if (listeners.size === 0) return
    newest = head.number
    void readNewest()
  })

  /** Calls `listener` with the header of each new head; the function ends it. */
  return (listener: (header: BlockHeader) => void): (() => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
}
