import type { Address, Hex } from 'viem'
import type { AccessHints } from '../../chain/accessPrediction.js'
import { depositSlot, nonceSlot } from '../../erc4337/encoding/storageLayout.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import { createAddress } from '../../evm/index.js'
import type { Extent } from './observeOperation.js'

/** The parts of an operation from which the state that it will touch is foreseen. */
export type ForeseenOperation = Pick<
  Operation,
  'sender' | 'nonce' | 'factory' | 'paymaster' | 'callData'
>

/**
 * Hints about the state that an operation will touch. Operations that call the same contracts touch
 * similar state, most of all those with the same call, paymaster and factory.
 */
export function accessHintsOf(
  entryPoint: EntryPoint,
  op: ForeseenOperation,
  extent: Extent,
): AccessHints {
  const { sender, factory, paymaster } = op
  const { address } = entryPoint
  const validation = `validation ${address} ${factory} ${paymaster}`
  // Selector and first argument: for most accounts the contract that is called.
  const execution = `execution ${address} ${factory} ${paymaster} ${op.callData.slice(0, 74)}`
  const general = `${address} ${factory !== undefined} ${paymaster !== undefined}`
  const staked = extent === 'validation' ? entitiesOf(op) : []
  // An EntryPoint calls factories through the first contract that it created.
  const contracts = factory === undefined ? [] : [factory, createAddress(address, 1n)]
  if (paymaster !== undefined) contracts.push(paymaster)
  return {
    names: extent === 'execution' ? [execution, validation, general] : [validation, general],
    sender,
    nonceKey: op.nonce >> 64n,
    accounts: [address, sender, ...contracts],
    slots: [
      [address, depositSlot(paymaster ?? sender)],
      [address, nonceSlot(sender, op.nonce)],
      ...staked.flatMap((entity) => stakeSlots(entity, entryPoint)),
    ],
    nonces: factory === undefined ? [] : noncesOf(factory, op),
  }
}

/** The accounts whose nonce a creation needs. That of the new account is known to be 0 unless it holds wei, to pay itself. */
function noncesOf(factory: Address, { sender, paymaster }: ForeseenOperation): Address[] {
  return paymaster === undefined ? [factory, sender] : [factory]
}

/** The contracts that an operation names. */
function entitiesOf({ sender, factory, paymaster }: ForeseenOperation): Address[] {
  return [sender, factory, paymaster].filter((address) => address !== undefined)
}

function stakeSlots(entity: Address, entryPoint: EntryPoint): [Address, Hex][] {
  return entryPoint.stakeSlots(entity).map((slot) => [entryPoint.address, slot])
}
