import type { Address, Hex } from 'viem'
import { DELEGATION_MARKER } from '../erc4337/delegation.js'
import type { Operation } from '../erc4337/operation.js'
import { type BlockId, blockParameter } from './head.js'
import type { NodeClient } from './nodeClient.js'
import { getCode } from './nodeReads.js'

/** The parts of an account that decide whether an authorization of it applies (EIP-7702). */
export type DelegableAccount = {
  /** Its next nonce as an externally owned account. */
  readonly nonce: bigint
  readonly code: Hex
}

/** Nonce and code of each of `addresses` at `block`, in one batch. */
export async function readDelegables(
  node: NodeClient,
  addresses: readonly Address[],
  block: BlockId = 'latest',
): Promise<readonly DelegableAccount[]> {
  if (addresses.length === 0) return []
  const calls = addresses.flatMap((address) =>
    ['eth_getTransactionCount', 'eth_getCode'].map((method) => ({
      method,
      params: [address, blockParameter(block)],
    })),
  )
  const answers = (await node.batch(calls)).map((answer) => {
    if (!answer.ok) throw answer.error
    return answer.result as Hex
  })
  return addresses.map((_, at) => ({
    nonce: BigInt(answers[2 * at] ?? '0x0'),
    code: answers[2 * at + 1] ?? '0x',
  }))
}

/** The contract that an account with this code runs (EIP-7702); undefined when it delegates to none. */
export function delegateOf(code: Hex): Address | undefined {
  return code.length === DESIGNATOR_LENGTH && code.startsWith('0xef0100')
    ? `0x${code.slice(8).toLowerCase()}`
    : undefined
}

/** `0x`, three bytes of prefix and an address. */
const DESIGNATOR_LENGTH = 48

/**
 * The delegate that an operation's hash covers although it names none: that of a sender which was
 * delegated before (EIP-7702 marker, no authorization). Undefined where the operation names all.
 */
export async function delegateToHash(
  node: NodeClient,
  { sender, factory, authorization }: Pick<Operation, 'sender' | 'factory' | 'authorization'>,
): Promise<Address | undefined> {
  if (factory !== DELEGATION_MARKER || authorization !== undefined) return undefined
  return delegateOf(await getCode(node, sender))
}
