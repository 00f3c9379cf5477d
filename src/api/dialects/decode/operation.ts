import type { Draft } from '../../../entrypoint/draft.js'
import type { Operation } from '../../../entrypoint/operation.js'
import { type Version, versionFacts } from '../../../entrypoint/versionFacts.js'
import { decodeAuthorization } from './authorization.js'
import {
  decodeAddress,
  decodeBytes,
  decodeOptionalBytes,
  MAX_CODE_BYTES,
  MAX_PROOF_BYTES,
} from './bytes.js'
import {
  decodePackedEntities,
  decodeUnpackedEntities,
  paymasterLimits,
  refuseFilled,
  unpackedFields,
} from './entities.js'
import { decodeObject, type Members, member } from './members.js'
import { decodeGas, decodeOptionalFee, decodeOptionalGasLimit, decodeQuantity } from './quantity.js'

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

/** An operation to be estimated. Its signature must be there, only the length counts. */
export function decodeDraft(value: unknown, field: string, version: Version): Draft {
  const object = decodeObject(value, field)
  const signature = decodeBytes(member(object, 'signature'), `${field}.signature`, MAX_PROOF_BYTES)
  return { ...decodeParts(object, field, version), ...decodeGasFields(object, field), signature }
}

/**
 * An operation to be sponsored. Clients send a dummy signature or none, and leave an older
 * paymaster in it, which sponsoring replaces; its gas limits are the client's and count.
 */
export function decodePartialOperation(value: unknown, field: string, version: Version): Draft {
  const object = decodeObject(value, field)
  const signature = member(object, 'signature')
  return {
    ...decodeParts(withoutPaymaster(object), field, version),
    ...decodeGasFields(object, field),
    signature: decodeOptionalBytes(signature, `${field}.signature`, MAX_PROOF_BYTES),
  }
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

function decodeParts(object: Members, field: string, version: Version): Parts {
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
