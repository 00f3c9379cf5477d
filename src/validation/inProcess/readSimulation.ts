import type { Address, Hex } from 'viem'
import type { EntryPoint, Failure, Log, OperationOutcome } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import { splitValidationData } from '../../entrypoint/validationData.js'
import { type CallResult, type EvmLog, toHex } from '../../evm/index.js'
import type { Validation } from '../engine.js'
import { unexplained } from '../refusals.js'
import type { Observation } from './observeOperation.js'
import type { ReadMore } from './settleSearch.js'
import type { SimulationState } from './simulateOperation.js'

/** A simulation on known state. */
export type SimulatedOperation = {
  readonly result: CallResult
  readonly observed: Observation
  readonly stage: SimulationState
  readonly blockHash: Hex
  /** Reads more of the same block's state into `stage`. Throws BlockGone once the node lacks the block. */
  readonly readMore: ReadMore
}

/** What is looked at of a run that was refused. */
export type Ended = {
  readonly result: Pick<CallResult, 'output'>
  readonly stage: Pick<SimulationState, 'state'>
}

/** What handleOps would put on the chain for the operation; undefined when it refuses. */
export function outcomeOf(
  entryPoint: EntryPoint,
  { logs }: CallResult,
): OperationOutcome | undefined {
  return entryPoint.decodeOutcomes(logs.map(toLog))[0]
}

/** What the EntryPoint says; where it reverts without a word, whether a contract is missing. */
export function refusal(
  entryPoint: EntryPoint,
  op: Operation,
  { result: { output }, stage: { state } }: Ended,
): Failure {
  const revertData = toHex(output)
  const failure = entryPoint.decodeFailure(revertData)
  if (failure !== undefined) return failure
  const isMissing = (address: Address) => state.account(address)?.code.length === 0
  const said = (code: string, message: string) => ({ index: 0, code, message, revertData })
  if (op.factory === undefined && isMissing(op.sender)) {
    return said('AA20', 'AA20 account not deployed')
  }
  if (op.paymaster !== undefined && isMissing(op.paymaster)) {
    return said('AA30', 'AA30 paymaster not deployed')
  }
  return unexplained(revertData)
}

export function readValidation(
  observed: ValidationAnswers,
  { preOpGas, prefund }: NonNullable<Observation['validated']>,
  op: Operation,
): Omit<Validation, 'observed'> {
  const failed = (data = 0n) => BigInt(splitValidationData(data).authorizer) !== 0n
  return {
    accountSignatureFailed: failed(observed.accountData),
    paymasterSignatureFailed: failed(observed.paymasterData),
    ...timeRangeOf(observed),
    verificationGasUsed: preOpGas - op.preVerificationGas,
    prefund,
  }
}

/** What account and paymaster answered. */
type ValidationAnswers = Pick<Observation, 'accountData' | 'paymasterData'>

const BLOCK_FLAG = 2 ** 47

/** When account and paymaster both hold. Ranges of block numbers (v0.9) the EntryPoint judges. */
export function timeRangeOf({ accountData = 0n, paymasterData = 0n }: ValidationAnswers) {
  let [validAfter, validUntil] = [0, 0]
  for (const data of [accountData, paymasterData]) {
    const range = splitValidationData(data)
    if (range.validAfter >= BLOCK_FLAG && range.validUntil >= BLOCK_FLAG) continue
    validAfter = Math.max(validAfter, range.validAfter)
    if (range.validUntil !== 0 && (validUntil === 0 || range.validUntil < validUntil)) {
      validUntil = range.validUntil
    }
  }
  return { validAfter, validUntil }
}

/** A log as if of a transaction of its own, of which nothing is known yet. */
function toLog({ address, topics, data }: EvmLog, logIndex: number): Log {
  const nowhere = `0x${'00'.repeat(32)}` as const
  return {
    address,
    topics,
    data: toHex(data),
    logIndex,
    blockNumber: 0n,
    blockHash: nowhere,
    transactionHash: nowhere,
    transactionIndex: 0,
  }
}
