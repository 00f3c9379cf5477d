import type { Logger } from 'pino'
import type { Hex } from 'viem'
import { keccak256 } from 'viem/utils'
import { broadcast } from './broadcast.js'
import type { ChainIdentity } from './chainIdentity.js'
import { callOutcome } from './ethCall.js'
import { blockParameter } from './head.js'
import type { HeadFollower } from './headFollower.js'
import { createHeaderNews } from './node/headerNews.js'
import { createNodeClient } from './nodeClient.js'
import {
  CallRevertedError,
  NodeRpcError,
  ReadRefusedError,
  ReadsBusyError,
  TransactionRefusedError,
} from './nodeErrors.js'

/** The reads that clients may ask of a chain's node. */
export type ReadMethod =
  | 'eth_blockNumber'
  | 'eth_call'
  | 'eth_estimateGas'
  | 'eth_feeHistory'
  | 'eth_getBalance'
  | 'eth_getBlockByNumber'
  | 'eth_getCode'
  | 'eth_getLogs'
  | 'eth_getStorageAt'
  | 'eth_getTransactionByHash'
  | 'eth_getTransactionCount'
  | 'eth_getTransactionReceipt'

/** Reads of a chain's node on behalf of clients who have one URL only. */
export type ClientReads = {
  /**
   * The node's answer as it came. Throws CallRevertedError, ReadRefusedError, ReadsBusyError,
   * NodeUnavailableError.
   */
  read(appId: string, method: ReadMethod, params: readonly unknown[]): Promise<unknown>
  /**
   * Gives a signed transaction of a client to all nodes; its hash when one has it. Absent where the operator does not
   * allow it. Throws TransactionRefusedError, ReadsBusyError.
   */
  readonly send: ((appId: string, raw: Hex) => Promise<Hex>) | undefined
  /** The number of the newest block that we know. */
  head(): bigint
  /** Calls `listener` with the header of each new head; the function ends it. */
  readonly onHeader: (listener: (header: object) => void) => () => void
  /** Blocks that one eth_getLogs may span. */
  readonly logRange: number
  /** Whether eth_estimateGas may be asked: the node runs a transaction many times for it. */
  readonly estimatesGas: boolean
  close(): Promise<void>
}

type ClientReadsOptions = {
  readonly urls: readonly string[]
  /** Knows which of them serve another chain. */
  readonly chain?: ChainIdentity | undefined
  readonly logger: Logger
  readonly logRange: number
  readonly estimatesGas: boolean
  readonly sends: boolean
  readonly heads: Pick<HeadFollower, 'current' | 'onHead'>
}

/** Milliseconds that one exchange may take; trouble of transport is tried again twice. */
const DEADLINE = 5_000
/** A full block of a large chain has less, and so have as many logs as anybody reads at once. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024
/**
 * Reads over connections of their own: what clients ask never waits before, and never holds back, what
 * bundling asks of the same node.
 */
export function createClientReads({
  urls,
  chain,
  logger,
  logRange,
  estimatesGas,
  sends,
  heads,
}: ClientReadsOptions): ClientReads {
  const node = createNodeClient({
    urls,
    chain,
    logger,
    deadline: DEADLINE,
    maxAnswerBytes: MAX_ANSWER_BYTES,
  })
  const places = createReadPlaces()
  const send = async (appId: string, raw: Hex): Promise<Hex> => {
    const { kind, reason = kind } = await places.run(appId, () => broadcast(node, raw))
    if (kind !== 'sent') throw new TransactionRefusedError(reason)
    return keccak256(raw)
  }
  return {
    send: sends ? send : undefined,
    async read(appId, method, params) {
      try {
        return await places.run(appId, () => node.request<unknown>(method, params))
      } catch (error) {
        throw error instanceof NodeRpcError ? readError(method, error) : error
      }
    },
    head: () => heads.current().number,
    onHeader: createHeaderNews({
      heads,
      readBlock: (number) => node.request('eth_getBlockByNumber', [blockParameter(number), false]),
      logger,
    }),
    logRange,
    estimatesGas,
    close: () => node.close(),
  }
}

const runs: ReadonlySet<ReadMethod> = new Set(['eth_call', 'eth_estimateGas'])

/** The error that a client may see: of the node's own it holds nothing but the bytes of a revert. */
function readError(method: ReadMethod, error: NodeRpcError): Error {
  const outcome = runs.has(method) ? callOutcome(error) : undefined
  return outcome === undefined
    ? new ReadRefusedError(method, error)
    : new CallRevertedError(outcome.revertData)
}

/** Reads under way at once, in all and of one app: no app takes all places from the others. */
const MOST_IN_ALL = 64
const MOST_OF_APP = 16
/** Reads of one app that wait for a place of its own: libraries send 100 in one batch. */
const MOST_WAITING = 200
/** Milliseconds for which one waits. */
const PATIENCE = 5_000

type Waiting = { readonly start: () => void }
type AppPlaces = { running: number; readonly waiting: Set<Waiting> }

/** The places of one chain's reads. */
function createReadPlaces() {
  const apps = new Map<string, AppPlaces>()
  let runningInAll = 0

  /** Resolves with a place of the app, which a read that ends hands on to the one that waits longest. */
  const enter = (places: AppPlaces): Promise<void> => {
    if (places.running < MOST_OF_APP) {
      places.running += 1
      return Promise.resolve()
    }
    if (places.waiting.size >= MOST_WAITING) throw new ReadsBusyError(places.running)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        places.waiting.delete(waiting)
        reject(new ReadsBusyError(places.running))
      }, PATIENCE)
      const waiting = {
        start: () => {
          clearTimeout(timer)
          places.waiting.delete(waiting)
          resolve()
        },
      }
      places.waiting.add(waiting)
    })
  }

  const leave = (appId: string, places: AppPlaces): void => {
    const [next] = places.waiting
    if (next === undefined) {
      places.running -= 1
      if (places.running === 0) apps.delete(appId)
    } else next.start()
  }

  return {
    /** Runs a read as soon as its app has a place. Throws ReadsBusyError when it gets none in time. */
    async run<Result>(appId: string, read: () => Promise<Result>): Promise<Result> {
      const places = apps.get(appId) ?? { running: 0, waiting: new Set() }
      apps.set(appId, places)
      await enter(places)
      try {
        if (runningInAll >= MOST_IN_ALL) throw new ReadsBusyError(runningInAll)
        runningInAll += 1
        try {
          return await read()
        } finally {
          runningInAll -= 1
        }
      } finally {
        leave(appId, places)
      }
    },
  }
}
