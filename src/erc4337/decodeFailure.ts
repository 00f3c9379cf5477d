import type { Hex } from 'viem'
import { boundText } from './encoding/boundText.js'
import { readAbi } from './encoding/abiReader.js'
import type { AaCode, Failure } from './entryPoint.js'
import {
  describeKnownError,
  describeRevert,
  entryPointErrors,
  readErrorString,
  safeText,
} from './revertReason.js'

const FAILED_OP = '0x220266b6'
const FAILED_OP_WITH_REVERT = '0x65c8fd4d'

/** Texts without an AA code that an EntryPoint itself reverts with (v0.6 guard, v0.8 EIP-7702). */
const plainTexts: ReadonlySet<string> = new Set([
  'ReentrancyGuard: reentrant call',
  'sender has no code',
  'not an EIP-7702 delegate',
])

/**
 * The failure in revert data of handleOps or a simulation, for every version; undefined when it is
 * something else, whatever the bytes.
 */
export function decodeFailure(revertData: Hex): Failure | undefined {
  return failedOp(revertData) ?? failedOpWithRevert(revertData) ?? unattributed(revertData)
}

function failedOp(revertData: Hex): Failure | undefined {
  return readAbi(revertData, FAILED_OP, (reader) =>
    failure(revertData, safeText(reader.bytes(0, 32)), reader.number(0)),
  )
}

function failedOpWithRevert(revertData: Hex): Failure | undefined {
  return readAbi(revertData, FAILED_OP_WITH_REVERT, (reader) => {
    const text = safeText(reader.bytes(0, 32))
    const reason = describeRevert(reader.bytes(0, 64))
    const message = reason ? boundText(`${text}: ${reason}`) : text
    return failure(revertData, message, reader.number(0))
  })
}

/** Refusals in which the EntryPoint names no operation: AA9x texts and its own custom errors. */
function unattributed(revertData: Hex): Failure | undefined {
  const text = readErrorString(revertData)
  if (text !== undefined) {
    const isOfEntryPoint = aaCode(text) !== undefined || plainTexts.has(text)
    return isOfEntryPoint ? failure(revertData, text, undefined) : undefined
  }
  if (!entryPointErrors.has(revertData.slice(0, 10).toLowerCase())) return undefined
  const description = describeKnownError(revertData)
  return description === undefined ? undefined : failure(revertData, description, undefined)
}

function failure(revertData: Hex, message: string, index: number | undefined): Failure {
  return {
    index,
    code: aaCode(message),
    message,
    revertData,
  }
}

function aaCode(message: string): AaCode | undefined {
  return /^AA\d\d/.exec(message)?.[0] as AaCode | undefined
}
