import type { Address, Hex } from 'viem'
import { encodeAbiParameters, size, slice } from 'viem/utils'
import type { StakeInfo } from '../erc4337/entryPoint.js'
import { ethCall } from './ethCall.js'
import { type BlockId, blockParameter } from './head.js'
import type { NodeClient } from './nodeClient.js'

const BALANCE_OF = '0x70a08231'
const ENTRY_POINT = '0xb0d691fe'
/** Gas of a function that only reads: the account is anybody's. */
const GETTER_GAS = 100_000n
const GET_DEPOSIT_INFO = '0x5287ce12'
const GET_NONCE = '0x35567e1a'

/** wei that `account` has deposited in the EntryPoint, the same in every version. */
export function readDeposit(
  node: NodeClient,
  entryPoint: Address,
  account: Address,
): Promise<bigint> {
  const argument = encodeAbiParameters([{ type: 'address' }], [account])
  return readWord(node, entryPoint, `${BALANCE_OF}${argument.slice(2)}`)
}

/** The EntryPoint that an account names by `entryPoint()`; undefined where it has no such function. */
export async function readEntryPointOf(
  node: NodeClient,
  account: Address,
): Promise<Address | undefined> {
  const outcome = await ethCall(node, { to: account, data: ENTRY_POINT, gas: GETTER_GAS })
  return outcome.ok && size(outcome.data) === 32 ? slice(outcome.data, 12) : undefined
}

/** The next nonce of `sender` for the key of `nonce` (its high 192 bits), key included. */
export function readNonce(
  node: NodeClient,
  entryPoint: Address,
  sender: Address,
  nonce: bigint,
  block: BlockId = 'latest',
): Promise<bigint> {
  return readWord(node, entryPoint, encodeGetNonce(sender, nonce), block)
}

/**
 * The next nonces, key included, of senders at EntryPoints, each for the key of its `nonce`, in one batch
 * at block `number`.
 * @throws when the node does not have the block
 */
export async function readNonces(
  node: NodeClient,
  slots: readonly {
    readonly entryPoint: Address
    readonly sender: Address
    readonly nonce: bigint
  }[],
  number: bigint,
): Promise<readonly bigint[]> {
  const calls = slots.map(({ entryPoint, sender, nonce }) => ({
    method: 'eth_call',
    params: [{ to: entryPoint, data: encodeGetNonce(sender, nonce) }, blockParameter(number)],
  }))
  return (await node.batch(calls)).map((answer, i) => {
    if (!answer.ok) throw answer.error
    const word = answer.result as Hex
    if (word === '0x') throw new Error(`there is no EntryPoint at ${slots[i]?.entryPoint}`)
    return BigInt(word)
  })
}

function encodeGetNonce(sender: Address, nonce: bigint): Hex {
  const parameters = [{ type: 'address' }, { type: 'uint192' }] as const
  return `${GET_NONCE}${encodeAbiParameters(parameters, [sender, nonce >> 64n]).slice(2)}`
}

/** The stake (wei, and seconds of delay) of `account` in the EntryPoint; zero once it was unlocked. */
export async function readStake(
  node: NodeClient,
  entryPoint: Address,
  account: Address,
): Promise<StakeInfo> {
  const argument = encodeAbiParameters([{ type: 'address' }], [account])
  const data: Hex = `${GET_DEPOSIT_INFO}${argument.slice(2)}`
  const outcome = await ethCall(node, { to: entryPoint, data })
  if (!outcome.ok || outcome.data === '0x')
    throw new Error(`there is no EntryPoint at ${entryPoint}`)
  const word = (index: number) => BigInt(slice(outcome.data, index * 32, index * 32 + 32))
  return word(1) === 0n
    ? { stake: 0n, unstakeDelay: 0n }
    : { stake: word(2), unstakeDelay: word(3) }
}

async function readWord(
  node: NodeClient,
  entryPoint: Address,
  data: Hex,
  block: BlockId = 'latest',
): Promise<bigint> {
  const outcome = await ethCall(node, { to: entryPoint, data }, block)
  if (!outcome.ok || outcome.data === '0x') {
    throw new Error(`there is no EntryPoint at ${entryPoint}`)
  }
  return BigInt(outcome.data)
}
