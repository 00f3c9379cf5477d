import type { Logger } from 'pino'
import type { Address } from 'viem'
import type { ChainMetrics } from '../base/metrics/metrics.js'
import { BlockGone } from '../chain/blockReads.js'
import type { StateProvider } from '../chain/stateProvider.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import type { CodeHashes, Stakes, Verdict } from '../erc4337/rules/index.js'
import type { Engine, Validation } from './engine.js'
import { holdsOn, type ReadSet, readsOf } from './readSet.js'

/** A validation that passed all rules, and what the rules found. */
export type KnownValidation = {
  readonly validation: Omit<Validation, 'observed'>
  readonly stakes: Stakes
  readonly verdict: Verdict
}

type Remembered = KnownValidation & {
  readonly entryPoint: Address
  readonly readSet: ReadSet
  readonly codeHashes: CodeHashes
}

/** Accounts and slots that a validation may have read to be remembered, so that none takes much memory. */
const MOST_READS = 64

/**
 * Validations that passed, by which a second one needs no run while the state that they read is the same. Each lives as
 * long as the very object that was validated.
 */
export type KnownValidations = {
  /** `verdict`: undefined where the rules are off, or were not all checked; it is not remembered then. */
  remember(
    entryPoint: EntryPoint,
    op: Operation,
    validation: Validation,
    verdict: Verdict | undefined,
  ): void
  /** The validations, on the head, of those operations of which it is certain without a run. */
  recall(
    entryPoint: EntryPoint,
    ops: readonly Operation[],
  ): Promise<ReadonlyMap<Operation, KnownValidation>>
}

type Context = {
  readonly state: Pick<StateProvider, 'read'>
  readonly engine: Pick<Engine, 'validate'>
  /** Whether our EVM may validate what uses this code. */
  readonly isTrusted: (entryPoint: EntryPoint, codeHashes: CodeHashes) => boolean
  /** The share (0 to 1) of recalled validations that are run all the same. */
  readonly share: number
  readonly metrics: ChainMetrics
  readonly logger: Logger
}

/**
 * All state that the operations' validations have read is read again in one batch, and compared. A share is run all the
 * same: where the run finds something else although the state is the same, a dependency is missing in the read set, which is an alert.
 */
export function createKnownValidations(context: Context): KnownValidations {
  const { state, isTrusted, share, metrics } = context
  const known = new WeakMap<Operation, Remembered>()
  return {
    remember(entryPoint, op, { observed, ...validation }, verdict) {
      if (verdict === undefined || observed.kind !== 'record' || !observed.readSet) return
      const { stakes, readSet, codeHashes } = observed
      if (readSet.accounts.size + readSet.slots.length > MOST_READS) return
      const { address } = entryPoint
      known.set(op, { entryPoint: address, validation, stakes, verdict, readSet, codeHashes })
    },
    async recall(entryPoint, ops) {
      const candidates = ops.flatMap((op) => {
        if (op.authorization !== undefined) return []
        const remembered = known.get(op)
        if (remembered?.entryPoint !== entryPoint.address) return []
        return isTrusted(entryPoint, remembered.codeHashes) ? [{ op, remembered }] : []
      })
      const certain = new Map<Operation, KnownValidation>()
      if (candidates.length === 0) return certain
      const reads = candidates.flatMap(({ remembered }) => readsOf(remembered.readSet))
      const head = await state.read(reads).catch(unlessGone)
      if (head === undefined) return certain
      for (const { op, remembered } of candidates) {
        const holds = holdsOn(remembered.readSet, head)
        const isSampled = holds && Math.random() < share
        if (isSampled && !(await isSame(context, entryPoint, op, remembered))) continue
        metrics.count('purser_validations_recalled_total', { outcome: holds ? 'same' : 'changed' })
        if (holds) certain.set(op, remembered)
      }
      return certain
    },
  }
}

/** Runs a validation that was recalled, and reports a difference. */
async function isSame(
  { state, engine, metrics, logger }: Context,
  entryPoint: EntryPoint,
  op: Operation,
  { validation, readSet }: Remembered,
): Promise<boolean> {
  const result = await engine.validate(entryPoint, op)
  const now = result.ok ? describe(result.validation) : result.failure.message
  const before = describe(validation)
  if (now === before) return true
  // The run may have seen a newer block, with other state.
  const head = await state.read(readsOf(readSet)).catch(unlessGone)
  if (head === undefined || !holdsOn(readSet, head)) return false
  metrics.count('purser_validations_recalled_total', { outcome: 'differs' })
  const place = { entryPoint: entryPoint.address, sender: op.sender, nonce: op.nonce }
  logger.error({ ...place, before, now }, 'a validation DIFFERS although its state is the same')
  return false
}

function describe(validation: Omit<Validation, 'observed'>): string {
  const { verificationGasUsed, prefund, contextSize, validAfter, validUntil } = validation
  const { accountSignatureFailed, paymasterSignatureFailed, blocks } = validation
  const signatures = `signatures ${!accountSignatureFailed} ${!paymasterSignatureFailed}`
  const times = `valid after ${validAfter} until ${validUntil}, blocks ${blocks.after} to ${blocks.until}`
  return `gas ${verificationGasUsed}, prefund ${prefund}, context ${contextSize}, ${times}, ${signatures}`
}

/** A node that has left the block: all are run on the next one. */
function unlessGone(error: unknown): undefined {
  if (!(error instanceof BlockGone)) throw error
  return undefined
}
