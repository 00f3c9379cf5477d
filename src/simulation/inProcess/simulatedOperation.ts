import type { Address } from 'viem'
import type {
  AaCode,
  EntryPoint,
  Failure,
  Log,
  OperationOutcome,
} from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import {
  intersectValidity,
  splitValidationData,
  type Validity,
} from '../../erc4337/validationData.js'
import { type CallResult, type EvmLog, type State, toHex } from '../../evm/index.js'
import type { Validation } from '../engine.js'
import { unexplained } from '../operationFailure.js'
import type { Observation } from './observeOperation.js'

/** The outcome that handleOps would put on the chain for the operation; undefined when it refuses. */
export function outcomeOf(
  entryPoint: EntryPoint,
  result: Pick<CallResult, 'logs'>,
): OperationOutcome | undefined {
  return outcomesOf(entryPoint, result)[0]
}

/** The outcomes that handleOps would put on the chain, in the order of its operations. */
export function outcomesOf(
  entryPoint: EntryPoint,
  { logs }: Pick<CallResult, 'logs'>,
): readonly OperationOutcome[] {
  return entryPoint.decodeOutcomes(logs.map(toLog))
}

/** The EntryPoint's reason; where it reverts without one, a contract that is missing. */
export function refusal(
  entryPoint: EntryPoint,
  op: Operation,
  output: Uint8Array,
  state: State,
): Failure {
  const revertData = toHex(output)
  const failure = entryPoint.decodeFailure(revertData)
  if (failure !== undefined) return failure
  const isMissing = (address: Address) => state.account(address)?.code.length === 0
  const failed = (code: AaCode, message: string) => ({ index: 0, code, message, revertData })
  if (op.factory === undefined && isMissing(op.sender)) {
    return failed('AA20', 'AA20 account not deployed')
  }
  if (op.paymaster !== undefined && isMissing(op.paymaster)) {
    return failed('AA30', 'AA30 paymaster not deployed')
  }
  return unexplained(revertData)
}

/** The validation that account and paymaster answered, with the gas and the prefund it took. */
export function validationOf(
  entryPoint: Pick<EntryPoint, 'hasBlockRanges'>,
  answers: ValidationAnswers,
  { preOpGas, prefund, contextSize }: NonNullable<Observation['validated']>,
  op: Operation,
): Omit<Validation, 'observed'> {
  const failed = (data = 0n) => BigInt(splitValidationData(data).authorizer) !== 0n
  return {
    accountSignatureFailed: failed(answers.accountData),
    paymasterSignatureFailed: failed(answers.paymasterData),
    ...validityOf(entryPoint, answers),
    verificationGasUsed: preOpGas - op.preVerificationGas,
    contextSize,
    prefund,
  }
}

/** The validationData of account and paymaster. */
type ValidationAnswers = Pick<Observation, 'accountData' | 'paymasterData'>

/** The validity of the operation by the answers of account and paymaster. */
export function validityOf(
  entryPoint: Pick<EntryPoint, 'hasBlockRanges'>,
  { accountData = 0n, paymasterData = 0n }: ValidationAnswers,
): Validity {
  return intersectValidity(entryPoint, [accountData, paymasterData])
}

/** A log in the form of a mined one, with zeros for the block and transaction that it does not have. */
/** A log of our EVM as the decoders of EntryPoints take it: the places in a chain that it has none of are zeros. */
export function toLog({ address, topics, data }: EvmLog, logIndex: number): Log {
  const unknown = `0x${'00'.repeat(32)}` as const
  return {
    address,
    topics,
    data: toHex(data),
    logIndex,
    blockNumber: 0n,
    blockHash: unknown,
    transactionHash: unknown,
    transactionIndex: 0,
  }
}
