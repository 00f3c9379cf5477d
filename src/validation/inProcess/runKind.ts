import type { Address, Hex } from 'viem'
import type { RunKind } from '../../chain/stateProvider.js'
import { depositSlot, nonceSlot } from '../../encoding/storageLayout.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import { createAddress } from '../../evm/index.js'
import type { Extent } from './observeOperation.js'

/** Runs touch alike that call the same contracts: those with the same call, sponsor and factory most. */
export function kindOf(entryPoint: EntryPoint, op: Operation, extent: Extent): RunKind {
  const { sender, factory, paymaster } = op
  const { address } = entryPoint
  const validation = `validation ${address} ${factory} ${paymaster}`
  // Selector and first argument: for most accounts what to call.
  const execution = `execution ${address} ${factory} ${paymaster} ${op.callData.slice(0, 74)}`
  const general = `${address} ${factory !== undefined} ${paymaster !== undefined}`
  const staked = extent === 'validation' ? entitiesOf(op) : []
  const parties = factory === undefined ? [] : [factory, senderCreator(address)]
  if (paymaster !== undefined) parties.push(paymaster)
  return {
    names: extent === 'execution' ? [execution, validation, general] : [validation, general],
    sender,
    nonceKey: op.nonce >> 64n,
    accounts: [address, sender, ...parties],
    slots: [
      [address, depositSlot(paymaster ?? sender)],
      [address, nonceSlot(sender, op.nonce)],
      ...staked.flatMap((entity) => stakeSlots(entity, entryPoint)),
    ],
    creators: factory === undefined ? [] : [factory],
  }
}

/** The contracts that an operation names. */
function entitiesOf({ sender, factory, paymaster }: Operation): Address[] {
  return [sender, factory, paymaster].filter((address) => address !== undefined)
}

function stakeSlots(entity: Address, entryPoint: EntryPoint): [Address, Hex][] {
  return entryPoint.stakeSlots(entity).map((slot) => [entryPoint.address, slot])
}

/** The contract through which an EntryPoint calls factories: the first that it created. */
function senderCreator(entryPoint: Address): Address {
  return createAddress(entryPoint, 1n)
}
