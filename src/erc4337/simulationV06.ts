import type { Address, Hex } from 'viem'
import { decodeFailure } from './decodeFailure.js'
import { type AbiReader, readAbi } from './encoding/abiReader.js'
import { addressWord, digits, encodeTuple } from './encoding/abiWriter.js'
import type { Failure, StakeInfo } from './entryPoint.js'
import type { Operation } from './operation.js'
import { encodeUserOperationV06 } from './userOperationV06.js'

const SIMULATE_VALIDATION = '0xee219423'
const SIMULATE_HANDLE_OP = '0xd6383f94'
const VALIDATION_RESULT = '0xe0cff05f'
const VALIDATION_RESULT_WITH_AGGREGATION = '0xfaecb4e4'
const EXECUTION_RESULT = '0x8b7ac980'

const UNBOUNDED = 0xffff_ffff_ffff

type SimulatedValidation = {
  readonly kind: 'validation'
  /** gas of validation, preVerificationGas included */
  readonly preOpGas: bigint
  /** wei */
  readonly prefund: bigint
  /** The account's or the paymaster's signature check failed: v0.6 does not say which. */
  readonly signatureFailed: boolean
  /** Unix seconds over account and paymaster, 0 = no bound. */
  readonly validAfter: number
  readonly validUntil: number
  readonly paymasterContext: Hex
  readonly sender: StakeInfo
  readonly factory: StakeInfo
  readonly paymaster: StakeInfo
  readonly aggregator: (StakeInfo & { readonly address: Address }) | undefined
}

type SimulatedExecution = {
  readonly kind: 'execution'
  /** gas of validation, preVerificationGas included */
  readonly preOpGas: bigint
  /** wei that the operation paid */
  readonly paid: bigint
  /** Unix seconds over account and paymaster, 0 = no bound. */
  readonly validAfter: number
  readonly validUntil: number
  /** The success of the target call that followed the operation; false without target. */
  readonly targetSuccess: boolean
  readonly targetResult: Hex
}

export type Simulated =
  | SimulatedValidation
  | SimulatedExecution
  | { readonly kind: 'failure'; readonly failure: Failure }

/** Calldata of `simulateValidation(op)`, a call that always reverts. */
export function encodeSimulateValidation(op: Operation): Hex {
  return `${SIMULATE_VALIDATION}${encodeTuple([{ encoded: encodeUserOperationV06(op) }])}`
}

/** Calldata of `simulateHandleOp(op, target, targetCallData)`, a call that always reverts. */
export function encodeSimulateHandleOp(op: Operation, target: Address, targetCallData: Hex): Hex {
  const fields = [
    { encoded: encodeUserOperationV06(op) },
    addressWord(target),
    { bytes: digits(targetCallData) },
  ]
  return `${SIMULATE_HANDLE_OP}${encodeTuple(fields)}`
}

/** The result in the revert data of a v0.6 simulation; undefined when that is something else. */
export function decodeSimulation(revertData: Hex): Simulated | undefined {
  const failure = decodeFailure(revertData)
  if (failure) return { kind: 'failure', failure }
  return (
    readAbi(revertData, VALIDATION_RESULT, (reader) => readValidation(reader, undefined)) ??
    readAbi(revertData, VALIDATION_RESULT_WITH_AGGREGATION, (reader) =>
      readValidation(reader, { address: reader.address(224), ...readStake(reader, 256) }),
    ) ??
    readAbi(revertData, EXECUTION_RESULT, readExecution)
  )
}

function readValidation(
  reader: AbiReader,
  aggregator: SimulatedValidation['aggregator'],
): SimulatedValidation {
  const info = reader.number(0)
  return {
    kind: 'validation',
    preOpGas: reader.uint(info),
    prefund: reader.uint(info + 32),
    signatureFailed: reader.boolean(info + 64),
    validAfter: reader.number(info + 96),
    validUntil: readUntil(reader, info + 128),
    paymasterContext: reader.bytes(info, info + 160),
    sender: readStake(reader, 32),
    factory: readStake(reader, 96),
    paymaster: readStake(reader, 160),
    aggregator,
  }
}

function readExecution(reader: AbiReader): SimulatedExecution {
  return {
    kind: 'execution',
    preOpGas: reader.uint(0),
    paid: reader.uint(32),
    validAfter: reader.number(64),
    validUntil: readUntil(reader, 96),
    targetSuccess: reader.boolean(128),
    targetResult: reader.bytes(0, 160),
  }
}

/** The EntryPoint reports a missing bound as the largest uint48. */
function readUntil(reader: AbiReader, position: number): number {
  const until = reader.number(position)
  return until === UNBOUNDED ? 0 : until
}

function readStake(reader: AbiReader, position: number): StakeInfo {
  return {
    stake: reader.uint(position),
    unstakeDelay: reader.uint(position + 32),
  }
}
