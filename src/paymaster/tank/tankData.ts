import type { Address, Hex } from 'viem'
import { digits } from '../../erc4337/encoding/abiWriter.js'
import type { EntryPoint, Version } from '../../erc4337/entryPoint.js'
import { joinPaymasterSignature } from '../../erc4337/paymasterSignature.js'
import type { TimeRange } from '../../erc4337/validationData.js'
import {
  type PromiseHash,
  promiseHash,
  type TankOperation,
  timeDigits,
  timeWord,
} from './tankTypedData.js'

/** The content of a tank's paymasterData. Unix seconds; validUntil 0 = without end. */
type TankData = TimeRange & { readonly signature: Hex }

const TIME_DIGITS = 12
const SIGNATURE_DIGITS = 130

/**
 * The paymasterData of a tank, the same for every EntryPoint version: validUntil(6) | validAfter(6)
 * | signature(65). Throws RangeError for a value that does not fit.
 */
export function encodeTankData({ validUntil, validAfter }: TimeRange, signature: Hex): Hex {
  if (signature.length !== 2 + SIGNATURE_DIGITS) {
    throw new RangeError('A tank signature has 65 bytes.')
  }
  return `0x${timeDigits(validUntil)}${timeDigits(validAfter)}${digits(signature)}`
}

/**
 * The paymasterData of a tank on v0.9 that may sign after the account: the same bytes, with the
 * suffix by which the EntryPoint leaves the signature out of the userOpHash.
 */
export function encodeLateTankData(range: TimeRange, signature: Hex): Hex {
  const times = encodeTankData(range, signature).slice(0, 2 + 2 * TIME_DIGITS) as Hex
  return joinPaymasterSignature(times, signature)
}

/** The reverse of encodeTankData; undefined for bytes of a length that the tank would refuse. */
export function parseTankData(paymasterData: Hex): TankData | undefined {
  if (paymasterData.length !== 2 + 2 * TIME_DIGITS + SIGNATURE_DIGITS) return undefined
  const validAfterAt = 2 + TIME_DIGITS
  const signatureAt = validAfterAt + TIME_DIGITS
  return {
    validUntil: Number.parseInt(paymasterData.slice(2, validAfterAt), 16),
    validAfter: Number.parseInt(paymasterData.slice(validAfterAt, signatureAt), 16),
    signature: `0x${paymasterData.slice(signatureAt)}`,
  }
}

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
