import type { Hex } from 'viem'
import type { BlockEnv } from '../../src/evm/block.js'
import { type IntrinsicGas, intrinsicGas } from '../../src/evm/intrinsicGas.js'
import { createMachine } from '../../src/evm/machine/createMachine.js'
import type { EvmContext, Machine } from '../../src/evm/machine/machine.js'
import {
  gasRefusal,
  type MessageInput,
  runMessage,
  withMachine,
} from '../../src/evm/machine/runMessage.js'
import type { CallResult, Outcome } from '../../src/evm/outcome.js'

/** A transaction whose signature has been checked. Before EIP-1559 both fees are the gas price. */
export type EvmTransaction = MessageInput & {
  nonce: bigint
  /** Wei per gas. */
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
  /** EIP-4844: versioned hashes; absent for other types. */
  blobHashes?: readonly Hex[]
  /** Wei per blob gas. */
  maxFeePerBlobGas?: bigint
}

const MAX_NONCE = 2n ** 64n - 1n

/** Runs a transaction as a block does: checks, fees, execution, refund, payment of the coinbase. */
export function transact(context: EvmContext, tx: EvmTransaction): Outcome {
  const { block } = context
  const create = () => createMachine(context, tx.from, gasPriceOf(block, tx), tx.blobHashes ?? [])
  return withMachine(context, tx, create, (machine) => {
    const needed = intrinsicGas(block, tx)
    const reason = refusal(machine, tx, needed)
    if (reason !== undefined) return { kind: 'invalid', reason }
    const { world, origin } = machine
    const blobFee = blobGas(tx) * block.blobBaseFee
    world.setBalance(origin, origin.balance - BigInt(tx.gas) * machine.gasPrice - blobFee)
    const reservoir = Math.max(0, tx.gas - machine.rules.executionGasCap)
    return settleFees(machine, tx, runMessage(machine, tx, needed, reservoir))
  })
}

/** Refunds unused gas and pays the coinbase its tip; the base fee is burnt. */
function settleFees(machine: Machine, tx: EvmTransaction, result: CallResult): CallResult {
  const { world, origin, coinbase, gasPrice, block } = machine
  const unused = BigInt(tx.gas - result.gasUsed)
  world.setBalance(origin, origin.balance + unused * gasPrice)
  const tip = (gasPrice - block.baseFee) * BigInt(result.gasUsed)
  world.setBalance(coinbase, world.load(coinbase).balance + tip)
  return { ...result, changes: world.changes(machine.rules.transferLogs) }
}

function gasPriceOf({ baseFee }: BlockEnv, tx: EvmTransaction): bigint {
  const tip = tx.maxFeePerGas - baseFee
  return tip < tx.maxPriorityFeePerGas ? tx.maxFeePerGas : baseFee + tx.maxPriorityFeePerGas
}

/** Of one blob (EIP-4844). */
const BLOB_GAS = 131_072

function blobGas(tx: EvmTransaction): bigint {
  return BigInt(BLOB_GAS * (tx.blobHashes?.length ?? 0))
}

/** The reason why a block may not contain this transaction; undefined when it may. */
function refusal(machine: Machine, tx: EvmTransaction, needed: IntrinsicGas): string | undefined {
  const { block, rules, world, origin } = machine
  const { balance, code } = world.load(origin)
  const nonce = world.nonceOf(origin)
  if (code.bytes.length > 0 && code.delegate === undefined) return 'sender is a contract'
  if (tx.nonce !== nonce) return `nonce ${tx.nonce} is not the sender's ${nonce}`
  if (nonce >= MAX_NONCE) return 'nonce cannot be raised any more'
  if (BigInt(tx.gas) > block.gasLimit) return 'gas limit above the block gas limit'
  if (tx.gas > rules.transactionGasCap) return 'gas limit above the cap of one transaction'
  if (tx.maxPriorityFeePerGas > tx.maxFeePerGas) return 'priority fee above the maximum fee'
  if (tx.maxFeePerGas < block.baseFee) return 'maximum fee below the base fee'
  const blobs = blobRefusal(machine, tx)
  if (blobs !== undefined) return blobs
  if (tx.to === undefined && tx.data.length > 2 * rules.gas.maxCodeSize) return 'initcode too large'
  const lists = listRefusal(machine, tx)
  if (lists !== undefined) return lists
  const gas = gasRefusal(tx, needed)
  if (gas !== undefined) return gas
  if (Math.max(needed.intrinsic, needed.floor) > rules.executionGasCap) {
    return 'intrinsic gas above the cap of one transaction'
  }
  const cost =
    BigInt(tx.gas) * tx.maxFeePerGas + tx.value + blobGas(tx) * (tx.maxFeePerBlobGas ?? 0n)
  return balance < cost ? `balance ${balance} below the maximum cost ${cost}` : undefined
}

function blobRefusal({ block, rules }: Machine, tx: EvmTransaction): string | undefined {
  const { blobHashes } = tx
  if (blobHashes === undefined) return undefined
  if (rules.maxBlobsPerTransaction === 0) return 'blobs are unknown to this fork'
  if (tx.to === undefined) return 'a blob transaction cannot create'
  if (blobHashes.length === 0) return 'a blob transaction needs blobs'
  if (blobHashes.length > rules.maxBlobsPerTransaction) return 'too many blobs'
  if (!blobHashes.every((hash) => hash.startsWith('0x01'))) return 'unknown blob hash version'
  return (tx.maxFeePerBlobGas ?? 0n) < block.blobBaseFee ? 'blob fee too low' : undefined
}

function listRefusal({ rules }: Machine, tx: EvmTransaction): string | undefined {
  if (tx.authorizations === undefined) return undefined
  if (!rules.delegation) return 'authorizations are unknown to this fork'
  if (tx.to === undefined) return 'a transaction with authorizations cannot create'
  return tx.authorizations.length === 0 ? 'an authorization list must not be empty' : undefined
}
