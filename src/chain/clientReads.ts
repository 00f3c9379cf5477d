import type { Logger } from 'pino'
import { callOutcome } from './ethCall.js'
import { createReadPlaces } from './node/readPlaces.js'
import { createNodeClient } from './nodeClient.js'
import { CallRevertedError, NodeRpcError, ReadRefusedError } from './nodeErrors.js'

/** The reads that clients may ask of a chain's node. None changes anything. */
export type ReadMethod =
  | 'eth_blockNumber'
  | 'eth_call'
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
  /** The number of the newest block that we know. */
  head(): bigint
  /** Blocks that one eth_getLogs may span. */
  readonly logRange: number
  close(): Promise<void>
}

export type ClientReadsOptions = {
  readonly urls: readonly string[]
  readonly logger: Logger
  readonly logRange: number
  readonly head: () => bigint
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
  logger,
  logRange,
  head,
}: ClientReadsOptions): ClientReads {
  const node = createNodeClient({
    urls,
    logger,
    deadline: DEADLINE,
    maxAnswerBytes: MAX_ANSWER_BYTES,
  })
  const places = createReadPlaces()
  return {
    async read(appId, method, params) {
      try {
        return await places.run(appId, () => node.request<unknown>(method, params))
      } catch (error) {
        throw error instanceof NodeRpcError ? readError(method, error) : error
      }
    },
    head,
    logRange,
    close: () => node.close(),
  }
}

/** The error that a client may see: of the node's own it holds nothing but the bytes of a revert. */
function readError(method: ReadMethod, error: NodeRpcError): Error {
  const outcome = method === 'eth_call' ? callOutcome(error) : undefined
  return outcome === undefined
    ? new ReadRefusedError(method, error)
    : new CallRevertedError(outcome.revertData)
}
