import type { Address, Hex } from 'viem'
import { OperationLimitError } from '../base/errors/operationErrors.js'
import { digits } from './encoding/abiWriter.js'
import { type EntityAndData, joinEntity, splitEntity } from './entity.js'
import type { Operation } from './operation.js'

/** Stands as factory of an operation whose sender is an EIP-7702 account (v0.8 and later). */
export const DELEGATION_MARKER: Address = '0x7702000000000000000000000000000000000000'

/**
 * The `initCode` that v0.8 and later hash, as hex digits: in place of the EIP-7702 marker stands the
 * delegate, so that the signature covers the code the account runs. An authorization is applied
 * before handleOps runs, so it decides; else `delegate`, what the sender's code points to.
 */
export function hashedInitCode(op: Operation, delegate: Address | undefined): string {
  if (op.factory !== DELEGATION_MARKER) return joinEntity(op.factory, op.factoryData)
  const effective = op.authorization?.address ?? delegate
  if (effective === undefined) {
    throw new OperationLimitError(
      'eip7702Auth',
      `factory ${DELEGATION_MARKER} needs an authorization, or a sender that is delegated already`,
    )
  }
  return digits(effective) + digits(op.factoryData)
}

/** Splits the `initCode` of v0.8 and later, in which the EIP-7702 marker may lack trailing zeros. */
export function splitDelegatedInitCode(initCode: Hex): EntityAndData {
  return initCode.length >= 6 && initCode.length < 42 && DELEGATION_MARKER.startsWith(initCode)
    ? { entity: DELEGATION_MARKER, data: '0x' }
    : splitEntity(initCode)
}
