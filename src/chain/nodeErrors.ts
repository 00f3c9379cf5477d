import type { Hex } from 'viem'
import { PurserError } from '../base/errors/purserError.js'

/** No endpoint of the chain gave a usable answer in time: transport trouble, never a refusal. */
export class NodeUnavailableError extends PurserError {
  constructor(request: string, cause?: unknown) {
    super(`The chain's node is not available (${request}). Try again shortly.`, {
      code: -32005,
      status: 503,
      rule: 'NODE_UNAVAILABLE',
      retryAfter: 1,
      cause,
    })
  }
}

/**
 * The call of a read reverts. Clients look for code 3, as nodes have it, for the word "reverted", and for the bytes
 * in `data`.
 */
export class CallRevertedError extends PurserError {
  constructor(revertData: Hex) {
    const message = 'execution reverted'
    super(message, { code: 3, data: { message, data: revertData } })
  }
}

/** The node refused a read; its own words stay here, as they may contain its address. */
export class ReadRefusedError extends PurserError {
  constructor(method: string, cause: unknown) {
    super(
      `The chain's node refuses this ${method}: check that the block exists and the parameters make sense.`,
      { code: -32000, cause },
    )
  }
}

/** What clients look for in a node's refusal of a transaction: they show the first words, and hide no address of a node. */
const refusals: readonly (readonly [RegExp, string])[] = [
  [/nonce (?:is )?too low|old nonce|nonce already used/i, 'nonce too low'],
  [/nonce too high|nonce gap/i, 'nonce too high'],
  [/chain id/i, 'invalid chain id'],
  [/insufficient funds|enough funds/i, 'insufficient funds for gas * price + value'],
  [/replacement/i, 'replacement transaction underpriced'],
  [/base fee|too low for the next block/i, 'max fee per gas less than block base fee'],
  [/underpriced|fee too low/i, 'transaction underpriced'],
  [/intrinsic gas|requires at least \d+ gas/i, 'intrinsic gas too low'],
  [/block gas limit|gas cap|gas limit/i, 'exceeds block gas limit'],
]

/** The nodes refused a transaction of a client. */
export class TransactionRefusedError extends PurserError {
  constructor(reason: string) {
    const [, words] = refusals.find(([pattern]) => pattern.test(reason)) ?? []
    super(words ?? "The chain's nodes refuse the transaction.", { code: -32000, cause: reason })
  }
}

/** As many reads are under way as the service forwards at once. */
export class ReadsBusyError extends PurserError {
  constructor(underWay: number) {
    super(`${underWay} reads of the chain are running. Try again shortly.`, {
      code: -32005,
      status: 429,
      retryAfter: 1,
      data: { underWay },
    })
  }
}

/** The node answered a request with a JSON-RPC error. */
export class NodeRpcError extends Error {
  override readonly name = 'NodeRpcError'
  readonly code: number
  /** Revert data in whichever shape the node gave it; undefined when it gave none. */
  readonly revertData: Hex | undefined

  constructor(code: number, message: string, data: unknown) {
    super(message)
    this.code = code
    this.revertData = findRevertData(data) ?? revertDataInText(message)
  }
}

/** The words of a geth that has started recently: it does not know yet whether it has a transaction. */
export const indexing = /transaction indexing is in progress/

const hexPattern = /^0x(?:[0-9a-fA-F]{2})*$/

/**
 * Revert data inside `error.data`: geth, anvil, reth send the string itself, others nest it in
 * `data.data` or `data.originalError.data`, OpenEthereum and Besu write `Reverted 0x…`.
 */
function findRevertData(data: unknown): Hex | undefined {
  if (typeof data === 'string') {
    return hexPattern.test(data) ? (data.toLowerCase() as Hex) : revertDataInText(data)
  }
  if (typeof data !== 'object' || data === null) return undefined
  const { data: nested, originalError } = data as { data?: unknown; originalError?: unknown }
  return findRevertData(nested) ?? findRevertData(originalError)
}

function revertDataInText(text: string): Hex | undefined {
  const match = /\bReverted (0x(?:[0-9a-fA-F]{2})*)(?![0-9a-fA-F])/i.exec(text)
  return match ? (match[1]?.toLowerCase() as Hex) : undefined
}
