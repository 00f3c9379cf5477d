import type { Hex } from 'viem'
import { size } from 'viem/utils'
import { z } from 'zod'
import { InvalidParamsError } from '../../../base/errors/requestErrors.js'
import { DELEGATION_MARKER } from '../../../erc4337/delegation.js'
import type { Draft } from '../../../erc4337/draft.js'
import { type EntityAndData, splitEntity } from '../../../erc4337/entity.js'
import type { Authorization, Operation } from '../../../erc4337/operation.js'
import { joinPaymasterSignature } from '../../../erc4337/paymasterSignature.js'
import { type Version, versionFacts } from '../../../erc4337/versionFacts.js'
import {
  address,
  bytesIn,
  decodeAddress,
  decodeBytes,
  decodeGas,
  decodeInteger,
  decodeObject,
  decodeOptionalBytes,
  decodeOptionalFee,
  decodeOptionalGasLimit,
  decodeQuantity,
  decodeWord,
  type Input,
  isMissing,
  MAX_CODE_BYTES,
  MAX_PROOF_BYTES,
  type Members,
  member,
  memberOrNull,
  quantity,
  shortWord,
} from './values.js'

/** Absent, null and `0x` say that it is not set. */
const unsetQuantity = z.union([quantity.json, z.null(), z.literal('0x')]).optional()

const authorizationIn = z.looseObject({
  chainId: quantity.json,
  address: address.json,
  nonce: quantity.json,
  yParity: quantity.json,
  r: shortWord.json,
  s: shortWord.json,
})

/** The members of an operation that every method needs, and those of each version in addition. */
const operationMembers = {
  sender: address.json,
  nonce: quantity.json,
  callData: bytesIn,
  initCode: bytesIn.optional(),
  paymasterAndData: bytesIn.optional(),
  factory: z.union([address.json, z.null(), z.literal(['0x', '0x7702'])]).optional(),
  factoryData: bytesIn.optional(),
  paymaster: z.union([address.json, z.null(), z.literal('0x')]).optional(),
  paymasterData: bytesIn.optional(),
  paymasterSignature: bytesIn.optional(),
  paymasterVerificationGasLimit: unsetQuantity,
  paymasterPostOpGasLimit: unsetQuantity,
  eip7702Auth: authorizationIn.optional(),
}

/** v0.6 has initCode and paymasterAndData, later versions the fields of factory and paymaster. */
const operationIn = z
  .looseObject({
    ...operationMembers,
    callGasLimit: quantity.json,
    verificationGasLimit: quantity.json,
    preVerificationGas: quantity.json,
    maxFeePerGas: quantity.json,
    maxPriorityFeePerGas: quantity.json,
    signature: bytesIn,
  })
  .meta({ id: 'OperationTaken' })

const unsetGas = {
  callGasLimit: unsetQuantity,
  verificationGasLimit: unsetQuantity,
  preVerificationGas: unsetQuantity,
  maxFeePerGas: unsetQuantity,
  maxPriorityFeePerGas: unsetQuantity,
}

/** To be estimated or sponsored: limits, fees and signature may be absent. */
const partialIn = z
  .looseObject({ ...operationMembers, ...unsetGas, signature: bytesIn.optional() })
  .meta({ id: 'PartialOperationTaken' })

/** An operation as it came: what decodes it needs its version, and is compiled by hand because it is hot. */
export const operation: Input<unknown> = { json: operationIn, decode: (value) => value }
export const partialOperation: Input<unknown> = { json: partialIn, decode: (value) => value }

/** An operation to be sent. All gas limits and fees are there, but a paymaster's limit that is 0 may be absent. */
export function decodeOperation(value: unknown, field: string, version: Version): Operation {
  const object = decodeObject(value, field)
  const gas = (name: string): bigint => decodeGas(member(object, name), `${field}.${name}`)
  const paymasterGas = (name: string): bigint =>
    decodeOptionalGasLimit(member(object, name), `${field}.${name}`) ?? 0n
  const parts = decodeParts(object, field, version)
  const hasPaymasterLimits =
    parts.paymaster !== undefined && versionFacts[version].hasPaymasterLimits
  if (!hasPaymasterLimits) refuseFilled(object, field, paymasterLimits, 'needs a paymaster.')
  return {
    ...parts,
    signature: decodeBytes(member(object, 'signature'), `${field}.signature`, MAX_PROOF_BYTES),
    callGasLimit: gas('callGasLimit'),
    verificationGasLimit: gas('verificationGasLimit'),
    preVerificationGas: gas('preVerificationGas'),
    maxFeePerGas: gas('maxFeePerGas'),
    maxPriorityFeePerGas: gas('maxPriorityFeePerGas'),
    paymasterVerificationGasLimit: hasPaymasterLimits
      ? paymasterGas('paymasterVerificationGasLimit')
      : 0n,
    paymasterPostOpGasLimit: hasPaymasterLimits ? paymasterGas('paymasterPostOpGasLimit') : 0n,
  }
}

/** An operation to be estimated. Only the length of its signature counts, and one may stand for a missing one. */
export function decodeDraft(value: unknown, field: string, version: Version): Draft {
  const object = decodeObject(value, field)
  const signature = member(object, 'signature')
  return {
    ...decodeParts(object, field, version),
    ...decodeGasFields(object, field),
    signature: decodeOptionalBytes(signature, `${field}.signature`, MAX_PROOF_BYTES),
  }
}

/**
 * An operation to be sponsored. Clients send a dummy signature or none, and leave an older
 * paymaster in it, which sponsoring replaces; its gas limits are the client's and count.
 */
export function decodePartialOperation(value: unknown, field: string, version: Version): Draft {
  return decodeDraft(withoutPaymaster(decodeObject(value, field)), field, version)
}

/** An operation whose account signs, or has signed, without waiting for its paymaster (v0.9). */
export function decodeCommitted(value: unknown, field: string, version: Version): Operation {
  const object = decodeObject(value, field)
  const signature = member(object, 'signature') ?? '0x'
  return decodeOperation({ ...object, signature }, field, version)
}

/** Whether the object uses fields that came with EntryPoint v0.7. */
export function isUnpacked(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    unpackedFields.some((name) => member(value as Members, name) !== undefined)
  )
}

function withoutPaymaster(object: Members): Members {
  return {
    ...object,
    paymasterAndData: undefined,
    paymaster: undefined,
    paymasterData: undefined,
    paymasterSignature: undefined,
  }
}

function decodeGasFields(object: Members, field: string) {
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

function decodeParts(object: Members, field: string, version: Version) {
  const authorization = member(object, 'eip7702Auth')
  return {
    sender: decodeAddress(member(object, 'sender'), `${field}.sender`),
    nonce: decodeQuantity(member(object, 'nonce'), `${field}.nonce`),
    callData: decodeBytes(member(object, 'callData'), `${field}.callData`, MAX_CODE_BYTES),
    ...(versionFacts[version].packsEntities
      ? decodePackedEntities(object, field)
      : decodeUnpackedEntities(object, field, version)),
    authorization:
      authorization === undefined
        ? undefined
        : decodeAuthorization(authorization, `${field}.eip7702Auth`),
  }
}

/** Gas limits that only operations of v0.7 and later have. */
const paymasterLimits = ['paymasterVerificationGasLimit', 'paymasterPostOpGasLimit']
/** Fields that came with EntryPoint v0.7. */
const unpackedFields = [
  'factory',
  'factoryData',
  'paymaster',
  'paymasterData',
  'paymasterSignature',
  ...paymasterLimits,
]

type Entities = Pick<Operation, 'factory' | 'factoryData' | 'paymaster' | 'paymasterData'>

/** EntryPoint v0.6: `initCode` and `paymasterAndData` start with the address. */
function decodePackedEntities(object: Members, field: string): Entities {
  refuseFilled(
    object,
    field,
    unpackedFields,
    'does not exist in EntryPoint v0.6: use initCode and paymasterAndData.',
  )
  const factory = decodeEntity(object, 'initCode', field, MAX_CODE_BYTES)
  const paymaster = decodeEntity(object, 'paymasterAndData', field, MAX_PROOF_BYTES)
  return {
    factory: factory.entity,
    factoryData: factory.data,
    paymaster: paymaster.entity,
    paymasterData: paymaster.data,
  }
}

function decodeEntity(
  object: Members,
  name: string,
  field: string,
  maxBytes: number,
): EntityAndData {
  const bytes = decodeOptionalBytes(memberOrNull(object, name), `${field}.${name}`, maxBytes)
  if (bytes !== '0x' && size(bytes) < 20)
    throw new InvalidParamsError(`${field}.${name}`, 'must be 0x or start with a 20-byte address.')
  return splitEntity(bytes)
}

/** EntryPoint v0.7 and later: every part is a field of its own (ERC-7769). */
function decodeUnpackedEntities(object: Members, field: string, version: Version): Entities {
  refuseFilled(
    object,
    field,
    ['initCode', 'paymasterAndData'],
    `does not exist in EntryPoint v${version}: use the fields of factory and paymaster.`,
  )
  const factory = decodeFactory(member(object, 'factory'), `${field}.factory`)
  const paymaster = member(object, 'paymaster')
  if (factory === undefined) refuseFilled(object, field, ['factoryData'], 'needs a factory.')
  else if (factory !== DELEGATION_MARKER && member(object, 'factoryData') === undefined)
    throw new InvalidParamsError(`${field}.factoryData`, 'is missing: a factory needs it.')
  if (isMissing(paymaster))
    refuseFilled(object, field, ['paymasterData', 'paymasterSignature'], 'needs a paymaster.')
  return {
    factory,
    factoryData: decodeOptionalBytes(
      member(object, 'factoryData'),
      `${field}.factoryData`,
      MAX_CODE_BYTES,
    ),
    paymaster: isMissing(paymaster) ? undefined : decodeAddress(paymaster, `${field}.paymaster`),
    paymasterData: decodePaymasterData(object, field, version),
  }
}

/** The marker of an EIP-7702 sender may come without its trailing zeros. */
function decodeFactory(value: unknown, field: string): Operation['factory'] {
  if (isMissing(value)) return undefined
  return value === '0x7702' ? DELEGATION_MARKER : decodeAddress(value, field)
}

/** EntryPoint v0.9 takes the paymaster's signature as a suffix outside the hash. */
function decodePaymasterData(object: Members, field: string, version: Version): Hex {
  const bytes = (name: string) =>
    decodeOptionalBytes(member(object, name), `${field}.${name}`, MAX_PROOF_BYTES)
  if (!versionFacts[version].paymasterMaySignLate)
    refuseFilled(object, field, ['paymasterSignature'], `needs EntryPoint v0.9, not v${version}.`)
  const signature = bytes('paymasterSignature')
  if (signature === '0x') return bytes('paymasterData')
  return joinPaymasterSignature(bytes('paymasterData'), signature)
}

/** A field that this shape lacks may be there when it is empty; clients fill in `0x` and 0. */
function refuseFilled(
  object: Members,
  field: string,
  names: readonly string[],
  reason: string,
): void {
  for (const name of names) {
    const value = member(object, name)
    if (!isMissing(value) && !isZero(value))
      throw new InvalidParamsError(`${field}.${name}`, reason)
  }
}

function isZero(value: unknown): boolean {
  return value === 0 || (typeof value === 'string' && /^(?:0x)?0+$/i.test(value))
}

const MAX_UINT64 = 2n ** 64n - 1n

/** The signed EIP-7702 tuple of an operation. */
function decodeAuthorization(value: unknown, field: string): Authorization {
  const object = decodeObject(value, field)
  const of = (name: string) => [member(object, name), `${field}.${name}`] as const
  return {
    chainId: decodeInteger(...of('chainId'), { min: 0, max: Number.MAX_SAFE_INTEGER }),
    address: decodeAddress(...of('address')),
    nonce: decodeQuantity(...of('nonce'), MAX_UINT64),
    yParity: decodeInteger(...of('yParity'), { min: 0, max: 1 }) === 0 ? 0 : 1,
    r: decodeWord(...of('r')),
    s: decodeWord(...of('s')),
  }
}
