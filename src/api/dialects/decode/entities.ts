import type { Hex } from 'viem'
import { size } from 'viem/utils'
import { DELEGATION_MARKER } from '../../../entrypoint/delegation.js'
import { type EntityAndData, splitEntity } from '../../../entrypoint/entity.js'
import type { Operation } from '../../../entrypoint/operation.js'
import { joinPaymasterSignature } from '../../../entrypoint/paymasterSignature.js'
import { type Version, versionFacts } from '../../../entrypoint/versionFacts.js'
import { InvalidParamsError } from '../../../errors/requestErrors.js'
import { decodeAddress, decodeOptionalBytes, MAX_CODE_BYTES, MAX_PROOF_BYTES } from './bytes.js'
import { type Members, member, memberOrNull } from './members.js'
import { isMissing } from './quantity.js'

/** Gas limits that only operations of v0.7 and later have. */
export const paymasterLimits = ['paymasterVerificationGasLimit', 'paymasterPostOpGasLimit']
/** Fields that came with EntryPoint v0.7. */
export const unpackedFields = [
  'factory',
  'factoryData',
  'paymaster',
  'paymasterData',
  'paymasterSignature',
  ...paymasterLimits,
]

type Entities = Pick<Operation, 'factory' | 'factoryData' | 'paymaster' | 'paymasterData'>

/** EntryPoint v0.6: `initCode` and `paymasterAndData` start with the address. */
export function decodePackedEntities(object: Members, field: string): Entities {
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
export function decodeUnpackedEntities(object: Members, field: string, version: Version): Entities {
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
  else if (factory !== DELEGATION_MARKER && member(object, 'factoryData') === undefined)
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
export function refuseFilled(
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
