import type { Hex } from 'viem'
import { ConflictError } from '../base/errors/restErrors.js'
import { createEntryPoint } from '../erc4337/createEntryPoint.js'
import type { EntryPoint, Failure, OperationOutcome } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import { splitValidationData } from '../erc4337/validationData.js'
import { type CallResult, call, codeHash, fromHex, type Miss, type Outcome } from '../evm/index.js'
import { type Observation, observeOperation } from './inProcess/observeOperation.js'
import { outcomesOf, refusal } from './inProcess/simulatedOperation.js'
import { MAX_STEPS } from './inProcess/simulateOperation.js'
import { unpackBlock } from './threads/carriedBlock.js'
import type { Witness } from './witness.js'

/** A run that was repeated from its witness. */
export type ReplayedRun = {
  readonly witness: Witness
  readonly entryPoint: EntryPoint
  readonly ops: readonly Operation[]
  /** Its record is a detailed one; absent where that takes too much memory. */
  readonly result: CallResult
  /** The operations that came to their end. */
  readonly outcomes: readonly OperationOutcome[]
  /** The reason for which the EntryPoint refuses the call; undefined where it does not. */
  readonly failure: Failure | undefined
}

/**
 * Repeats a run in our EVM, with no other state than its witness; `codes` are those that it names. Throws ConflictError
 * where the witness lacks something that the run asks for, or a code is another one.
 */
export function replayWitness(
  witness: Witness,
  codes: ReadonlyMap<Hex, Uint8Array>,
  maxSteps = MAX_STEPS,
): ReplayedRun {
  const { entryPoint: at, extent, message } = witness
  const entryPoint = createEntryPoint(at.version, at.address)
  const { block, state } = unpackBlock(witness.state, (hash) => requireCode(codes, hash))
  const ops = entryPoint.decodeHandleOps(message.data) ?? []
  const [op] = ops
  const observation =
    extent === 'validation' && op ? observeOperation(entryPoint, op, 'validation') : undefined
  const outcome = call(
    {
      state,
      block,
      onMiss: 'stop',
      record: true,
      detail: true,
      maxSteps,
      inspector: observation?.inspector,
    },
    { ...message, data: fromHex(message.data) },
  )
  const result = requireDone(outcome)
  const { validated, refused, ...answers } = observation?.observed ?? {}
  const hasFailed = observation === undefined ? !result.success : validated === undefined || refused
  const output = refused ?? result.output
  return {
    witness,
    entryPoint,
    ops,
    result,
    outcomes: observation === undefined ? outcomesOf(entryPoint, result) : [],
    failure: hasFailed && op ? refusal(entryPoint, op, output, state) : signatureFailureOf(answers),
  }
}

/** A signature that account or paymaster refused, which the inspector hides from the EntryPoint. */
function signatureFailureOf({
  accountData = 0n,
  paymasterData = 0n,
}: Partial<Pick<Observation, 'accountData' | 'paymasterData'>>): Failure | undefined {
  const isRefused = (data: bigint) => BigInt(splitValidationData(data).authorizer) === 1n
  const none = { index: 0, revertData: '0x' } as const
  if (isRefused(accountData)) return { ...none, code: 'AA24', message: 'AA24 signature error' }
  return isRefused(paymasterData)
    ? { ...none, code: 'AA34', message: 'AA34 signature error' }
    : undefined
}

function requireCode(codes: ReadonlyMap<Hex, Uint8Array>, hash: Hex): Uint8Array {
  const code = codes.get(hash)
  if (code === undefined) throw new ConflictError(`The witness lacks the code ${hash}.`)
  if (codeHash(code) !== hash) throw new ConflictError(`The code ${hash} was changed.`)
  return code
}

function requireDone(outcome: Outcome): CallResult {
  if (outcome.kind === 'done') return outcome
  if (outcome.kind === 'missing')
    throw new ConflictError(`The witness lacks ${outcome.misses.map(nameOf).join(', ')}.`)
  throw new ConflictError(`The run cannot be repeated here: ${outcome.reason}.`)
}

function nameOf(miss: Miss): string {
  if (miss.kind === 'blockHash') return `the hash of block ${miss.number}`
  if (miss.kind === 'slot') return `slot ${miss.slot} of ${miss.address}`
  return `the ${miss.kind} of ${miss.address}`
}
