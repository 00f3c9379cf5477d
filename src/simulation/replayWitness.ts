import type { Hex } from 'viem'
import { ConflictError } from '../base/errors/restErrors.js'
import { createEntryPoint } from '../erc4337/createEntryPoint.js'
import type { EntryPoint, Failure, OperationOutcome } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import { splitValidationData } from '../erc4337/validationData.js'
import {
  type BlockEnv,
  type CallResult,
  call,
  codeHash,
  type EvmMessage,
  fromHex,
  type Miss,
  type Outcome,
  type State,
} from '../evm/index.js'
import { type Observation, observeOperation } from './inProcess/observeOperation.js'
import { outcomesOf, refusal } from './inProcess/simulatedOperation.js'
import { MAX_STEPS } from './inProcess/simulateOperation.js'
import { unpackBlock } from './threads/carriedBlock.js'
import type { Witness, WitnessedRun } from './witness.js'

/** A run that was repeated from its witness. */
export type ReplayedRun = {
  readonly witness: Pick<Witness, 'extent'> & { readonly state: Pick<Witness['state'], 'block'> }
  readonly entryPoint: EntryPoint
  readonly ops: readonly Operation[]
  /** Its record is a detailed one; absent where that takes too much memory. */
  readonly result: CallResult
  /** The operations that came to their end. */
  readonly outcomes: readonly OperationOutcome[]
  /** The reason for which the EntryPoint refuses the call; undefined where it does not. */
  readonly failure: Failure | undefined
}

/** A witness that is ready to run. */
export type OpenedWitness = Pick<ReplayedRun, 'witness' | 'entryPoint' | 'ops'> & {
  readonly block: BlockEnv
  readonly state: State
  readonly message: EvmMessage
  /** The operation whose signature does not count, because it was changed after it was signed. */
  readonly unsigned?: Operation
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
  const run = runOpened(openRun({ witness, codes }), maxSteps, 'stop')
  if (!Array.isArray(run)) return run as ReplayedRun
  throw new ConflictError(`The witness lacks ${run.map(nameOf).join(', ')}.`)
}

/** Throws ConflictError where a code is another one, or is not there. */
export function openRun({ witness, codes }: WitnessedRun): OpenedWitness {
  const { entryPoint: at, message } = witness
  const entryPoint = createEntryPoint(at.version, at.address)
  const opened = unpackBlock(witness.state, (hash) => requireCode(codes, hash))
  const ops = entryPoint.decodeHandleOps(message.data) ?? []
  return {
    ...opened,
    witness,
    entryPoint,
    ops,
    message: { ...message, data: fromHex(message.data) },
  }
}

/** The run, or the state that it lacks. Throws ConflictError where it cannot be made at all. */
export function runOpened(
  { witness, entryPoint, ops, block, state, message, unsigned }: OpenedWitness,
  maxSteps: number,
  onMiss: 'stop' | 'guess',
): ReplayedRun | readonly Miss[] {
  const { extent } = witness
  const isAlone = extent !== 'bundle'
  const op = unsigned ?? ops[0]
  const observation =
    op && (isAlone || unsigned)
      ? observeOperation(entryPoint, op, isAlone ? extent : 'execution')
      : undefined
  const outcome = call(
    {
      state,
      block,
      onMiss,
      record: true,
      detail: true,
      maxSteps,
      inspector: observation?.inspector,
    },
    message,
  )
  if (outcome.kind === 'missing') return outcome.misses
  const result = requireDone(outcome)
  const { validated, refused, ...answers } = observation?.observed ?? {}
  const hasFailed = isAlone ? validated === undefined || refused : !result.success
  const failure =
    hasFailed && op
      ? refusal(entryPoint, op, (isAlone && refused) || result.output, state)
      : isAlone && unsigned === undefined
        ? signatureFailureOf(answers)
        : undefined
  const outcomes = extent === 'validation' ? [] : outcomesOf(entryPoint, result)
  return { witness, entryPoint, ops, result, outcomes, failure }
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

function requireDone(outcome: Exclude<Outcome, { readonly kind: 'missing' }>): CallResult {
  if (outcome.kind === 'done') return outcome
  throw new ConflictError(`The run cannot be repeated here: ${outcome.reason}.`)
}

/** A part of the state in words. */
export function nameOf(miss: Miss): string {
  if (miss.kind === 'blockHash') return `the hash of block ${miss.number}`
  if (miss.kind === 'slot') return `slot ${miss.slot} of ${miss.address}`
  return `the ${miss.kind} of ${miss.address}`
}
