import type { Address, Hex } from 'viem'
import type { EntryPoint, Version } from '../../erc4337/entryPoint.js'
import type { TimeRange } from '../../erc4337/validationData.js'
import { SIGNATURE_DIGITS, TIME_DIGITS, timeWord } from './tankData.js'
import { type PromiseHash, promiseHash, type TankOperation } from './tankTypedData.js'

const RANGE = 'uint48 validUntil,uint48 validAfter'
const inAnyForm = promiseHash('Sponsorship', RANGE)
const inOneForm = promiseHash('Sponsorship', `${RANGE},bytes10 signatureSuffix`)

/** On v0.6 there is one form of paymasterAndData only. */
const hashes: Readonly<Record<Version, PromiseHash>> = {
  '0.6': inAnyForm,
  '0.7': inOneForm,
  '0.8': inOneForm,
  '0.9': inOneForm,
}

const SUFFIX_AT = 2 + 2 * TIME_DIGITS + SIGNATURE_DIGITS
const SUFFIX_DIGITS = 20

/**
 * The hash that the tank's signer signs (getHash of the contract: EIP-712, no further prefix) to
 * pay for `op` within `range`. Covers every field but the operation's signature and paymasterData, of which
 * it covers the form, late or not (see `encodeLateTankData`).
 * @param delegate - the address that the sender's code points to, when it is an EIP-7702 account
 * already
 */
export function sponsorshipHash(
  op: TankOperation,
  entryPoint: Pick<EntryPoint, 'version' | 'address'>,
  chainId: number,
  { validUntil, validAfter }: TimeRange,
  delegate?: Address,
): Hex {
  const times = timeWord(validUntil) + timeWord(validAfter)
  const hash = hashes[entryPoint.version]
  const promised = hash === inOneForm ? times + suffixWord(op.paymasterData) : times
  return hash(op, entryPoint, chainId, promised, delegate)
}

/** The bytes behind the tank's signature. */
function suffixWord(paymasterData: Hex): string {
  return paymasterData.slice(SUFFIX_AT, SUFFIX_AT + SUFFIX_DIGITS).padEnd(64, '0')
}
