import type { Hex } from 'viem'
import type { AaCode, EntryPoint, Failure } from '../entrypoint/entryPoint.js'
import type { Validation } from './engine.js'

/** An operation as its signer must have seen it. */
export type SignedSubject = {
  readonly entryPoint: EntryPoint
  readonly chainId: number
  readonly hash: Hex
}

/**
 * The failure with which the EntryPoint refuses a wrong signature, which simulations only note; undefined when both
 * signatures are right. For the account's it names the hash, and what the hash depends on beside the fields.
 */
export function signatureFailure(
  { accountSignatureFailed, paymasterSignatureFailed }: Validation,
  { entryPoint: { address, version }, chainId, hash }: SignedSubject,
): Failure | undefined {
  const failure = (code: AaCode, subject = ''): Failure => {
    return { index: 0, code, message: `${code} signature error${subject}`, revertData: '0x' }
  }
  if (accountSignatureFailed) {
    const place = `on chain ${chainId} with EntryPoint v${version} ${address}`
    return failure('AA24', `: the hash of the operation is ${hash} ${place}`)
  }
  return paymasterSignatureFailed ? failure('AA34') : undefined
}
