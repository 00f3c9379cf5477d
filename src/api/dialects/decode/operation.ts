import { type Address, concat, type Hex, numberToHex, size, slice } from 'viem'
import type { Draft } from '../../../entrypoint/draft.js'
import type { Version } from '../../../entrypoint/entryPoint.js'
import type { Operation } from '../../../entrypoint/operation.js'
import { InvalidParamsError } from '../../../errors/requestErrors.js'
import { decodeAuthorization } from './authorization.js'
import {
  decodeAddress,
  decodeBytes,
  decodeOptionalBytes,
  maxCodeBytes,
  maxProofBytes,
} from './bytes.js'
import { decodeObject, type Members, member } from './members.js'
import {
  decodeGas,
  decodeOptionalFee,
  decodeOptionalGasLimit,
  decodeQuantity,
  isMissing,
} from './quantity.js'

/** An operation to be sent: every gas limit and fee is there. */
export const decodeOperation = (value: unknown, field: string, version: Version): Operation => {
  const object = decodeObject(value, field)
  const gas = (name: string): bigint => decodeGas(member(object, name), `${field}.${name}`)
  const parts = decodeParts(object, field, version)
  const hasPaymasterLimits = parts.paymaster !== undefined && version !== '0.6'
  if (!hasPaymasterLimits) refuseFilled(object, field, paymasterLimits, 'needs a paymaster.')
  return {
    ...parts,
    signature: decodeBytes(member(object, 'signature'), `${field}.signature`, maxProofBytes),
    callGasLimit: gas('callGasLimit'),
    verificationGasLimit: gas('verificationGasLimit'),
    preVerificationGas: gas('preVerificationGas'),
    maxFeePerGas: gas('maxFeePerGas'),
    maxPriorityFeePerGas: gas('maxPriorityFeePerGas'),
    paymasterVerificationGasLimit: hasPaymasterLimits ? gas('paymasterVerificationGasLimit') : 0n,
    paymasterPostOpGasLimit: hasPaymasterLimits ? gas('paymasterPostOpGasLimit') : 0n,
  }
}

/** An operation to be estimated. Its signature must be there, only the length counts. */
export const decodeDraft = (value: unknown, field: string, version: Version): Draft => {
  const object = decodeObject(value, field)
  const signature = decodeBytes(member(object, 'signature'), `${field}.signature`, maxProofBytes)
  return { ...decodeParts(object, field, version), ...decodeGasFields(object, field), signature }
}

/**
 * An operation to be sponsored. Clients send a dummy signature or none, and leave an older
 * paymaster in it, which sponsoring replaces; its gas limits are the client's and count.
 */
export const decodePartialOperation = (value: unknown, field: string, version: Version): Draft => {
  const object = decodeObject(value, field)
  const signature = member(object, 'signature')
  return {
    ...decodeParts(withoutPaymaster(object), field, version),
    ...decodeGasFields(object, field),
    signature: decodeOptionalBytes(signature, `${field}.signature`, maxProofBytes),
  }
}

/** Does the object use the fields that came with EntryPoint v0.7? */
export const isUnpacked = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  unpackedFields.some((name) => member(value as Members, name) !== undefined)

const withoutPaymaster = (object: Members): Members => ({
  ...object,
  paymasterAndData: undefined,
  paymaster: undefined,
  paymasterData: undefined,
  paymasterSignature: undefined,
})

const paymasterLimits = ['paymasterVerificationGasLimit', 'paymasterPostOpGasLimit']
const unpackedFields = [
  'factory',
  'factoryData',
  'paymaster',
  'paymasterData',
  'paymasterSignature',
  ...paymasterLimits,
]

type Parts = Pick<
  Operation,
  | 'sender'
  | 'nonce'
  | 'factory'
  | 'factoryData'
  | 'callData'
  | 'paymaster'
  | 'paymasterData'
  | 'authorization'
>

const decodeGasFields = (object: Members, field: string) => {
  const limit = (name: string) => decodeOptionalGasLimit(member(object, name), `${field}.${name}`)
  const fee = (name: string) => decodeOptionalFee(member(object, name), `${field}.${name}`)
  return {
    callGasLimit: limit('callGasLimit'),
    verificationGasLimit: limit('verificationGasLimit'),
    preVerificationGas: limit('preVerificationGas'),
    maxFeePerGas: fee('maxFeePerGas'),
    maxPriorityFeePerGas: fee('maxPriorityFeePerGas'),
    paymasterVerificationGasLimit: limit('paymasterVerificationGasLimit'),
    paymasterPostOpGasLimit: limit('paymasterPostOpGasLimit'),
  }
}

const decodeParts = (object: Members, field: string, version: Version): Parts => {
  const authorization = member(object, 'eip7702Auth')
  return {
    sender: decodeAddress(member(object, 'sender'), `${field}.sender`),
    nonce: decodeQuantity(member(object, 'nonce'), `${field}.nonce`),
    callData: decodeBytes(member(object, 'callData'), `${field}.callData`, maxCodeBytes),
    ...(version === '0.6'
      ? decodePackedParts(object, field)
      : decodeUnpackedParts(object, field, version)),
    authorization:
      authorization === undefined
        ? undefined
        : decodeAuthorization(authorization, `${field}.eip7702Auth`),
  }
}

type Entities = Pick<Operation, 'factory' | 'factoryData' | 'paymaster' | 'paymasterData'>

/** EntryPoint v0.6: `initCode` and `paymasterAndData` start with the address. */
const decodePackedParts = (object: Members, field: string): Entities => {
  refuseFilled(
    object,
    field,
    unpackedFields,
    'does not exist in EntryPoint v0.6: use initCode and paymasterAndData.',
  )
  const bytes = (name: string, maxBytes: number) =>
    splitAddress(
      decodeOptionalBytes(member(object, name), `${field}.${name}`, maxBytes),
      `${field}.${name}`,
    )
  const [factory, factoryData] = bytes('initCode', maxCodeBytes)
  const [paymaster, paymasterData] = bytes('paymasterAndData', maxProofBytes)
  return { factory, factoryData, paymaster, paymasterData }
}

const splitAddress = (bytes: Hex, field: string): [Address | undefined, Hex] => {
  if (bytes === '0x') return [undefined, '0x']
  if (size(bytes) < 20)
    throw new InvalidParamsError(field, 'must be 0x or start with a 20-byte address.')
  return [slice(bytes, 0, 20), size(bytes) === 20 ? '0x' : slice(bytes, 20)]
}

/** EntryPoint v0.7 and later: every part is a field of its own (ERC-7769). */
const decodeUnpackedParts = (object: Members, field: string, version: Version): Entities => {
  refuseFilled(
    object,
    field,
    ['initCode', 'paymasterAndData'],
    `does not exist in EntryPoint v${version}: use the fields of factory and paymaster.`,
  )
  const factory = decodeFactory(member(object, 'factory'), `${field}.factory`)
  const paymaster = member(object, 'paymaster')
  if (factory === undefined)
    refuseFilled(object, field, ['factoryData'], 'needs a factory beside it.')
  else if (factory !== eip7702Marker && member(object, 'factoryData') === undefined)
    throw new InvalidParamsError(`${field}.factoryData`, 'is missing: a factory needs it.')
  if (isMissing(paymaster))
    refuseFilled(
      object,
      field,
      ['paymasterData', 'paymasterSignature'],
      'needs a paymaster beside it.',
    )
  return {
    factory,
    factoryData: decodeOptionalBytes(
      member(object, 'factoryData'),
      `${field}.factoryData`,
      maxCodeBytes,
    ),
    paymaster: isMissing(paymaster) ? undefined : decodeAddress(paymaster, `${field}.paymaster`),
    paymasterData: decodePaymasterData(object, field, version),
  }
}

/** `0x7702`, short or padded, marks a sender with EIP-7702 code. */
const eip7702Marker: Address = `0x7702${'0'.repeat(36)}`

const decodeFactory = (value: unknown, field: string): Address | undefined => {
  if (isMissing(value)) return undefined
  return value === '0x7702' ? eip7702Marker : decodeAddress(value, field)
}

/** EntryPoint v0.9 takes the paymaster's signature as a suffix outside the hash (protocol.md 1.1). */
const decodePaymasterData = (object: Members, field: string, version: Version): Hex => {
  const bytes = (name: string) =>
    decodeOptionalBytes(member(object, name), `${field}.${name}`, maxProofBytes)
  if (version !== '0.9')
    refuseFilled(object, field, ['paymasterSignature'], `needs EntryPoint v0.9, not v${version}.`)
  const signature = bytes('paymasterSignature')
  if (signature === '0x') return bytes('paymasterData')
  return concat([
    bytes('paymasterData'),
    signature,
    numberToHex(size(signature), { size: 2 }),
    paymasterSignatureMagic,
  ])
}

/** First 8 bytes of keccak256("PaymasterSignature"). */
const paymasterSignatureMagic: Hex = '0x22e325a297439656'

/** A field that this shape lacks may be there when it is empty; clients fill in `0x` and 0. */
const refuseFilled = (
  object: Members,
  field: string,
  names: readonly string[],
  reason: string,
): void => {
  for (const name of names) {
    const value = member(object, name)
    if (!isMissing(value) && !isZero(value))
      throw new InvalidParamsError(`${field}.${name}`, reason)
  }
}

const isZero = (value: unknown): boolean =>
  value === 0 || (typeof value === 'string' && /^(?:0x)?0+$/i.test(value))
