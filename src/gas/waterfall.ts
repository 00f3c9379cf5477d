import type { Hex } from 'viem'
import { greatest, smallest, sum } from '../base/bigints.js'
import { CannotSimulateError } from '../base/errors/simulationErrors.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { StateBefore } from '../erc4337/forkGas.js'
import type { Operation } from '../erc4337/operation.js'
import type { IncludedOperation, PartyEngine } from '../simulation/chainEngine.js'
import type { Inspection } from '../simulation/engine.js'
import { bundleCharges, preVerificationGas, sharedGas } from './preVerificationGas.js'
import { type WasteHint, wasteHints } from './wasteHints.js'

/** What an included operation was charged for, and what it was charged. */
export type ChargedOperation = {
  readonly operation: Operation
  readonly blockHash: Hex
  readonly success: boolean
  readonly actualGasUsed: bigint
  /** wei */
  readonly actualGasCost: bigint
  /** The operations with which it shares the fixed costs of a bundle, itself included. */
  readonly sharedBy: number
}

/**
 * The parts of a charge, in the order in which they arise. preVerificationGas is `bundleShare`, `calldata` and `dataFee`, or
 * what exceeds them (`excess`); the EntryPoint's own work is `validationWork` and `executionWork`. `neighbours` is the
 * difference by operations before it in its block. Where it cannot be run again: `preVerification` and `metered`.
 * `capped` is what the EntryPoint charged less than gas used times price.
 */
export const chargeKinds = [
  'bundleShare',
  'calldata',
  'dataFee',
  'excess',
  'preVerification',
  'account',
  'paymaster',
  'validationWork',
  'call',
  'postOp',
  'executionWork',
  'unusedGas',
  'neighbours',
  'metered',
  'capped',
] as const

type ChargeKind = (typeof chargeKinds)[number]

type ChargePart = { readonly kind: ChargeKind; readonly gas: bigint; readonly wei: bigint }

/** The way of an operation's money from what it had to reserve to what it was charged. */
export type Waterfall = {
  /** wei */
  readonly prefund: bigint
  readonly charge: bigint
  readonly refund: bigint
  /** wei per gas */
  readonly gasPrice: bigint
  /** Their wei are `charge` in sum, their gas is what it was charged for. None is empty. */
  readonly parts: readonly ChargePart[]
  /** The state on which it was run again: that before its block, or the newest; undefined where it was not. */
  readonly state: 'before' | 'newest' | undefined
  readonly hints: readonly WasteHint[]
}

type GasPart = Pick<ChargePart, 'kind' | 'gas'>

type WaterfallContext = {
  readonly engine: Pick<PartyEngine, 'openPast'>
  readonly definition: ChainDefinition
}

/** Where the money of an included operation went, by running it again in its block. */
export async function explainCharge(
  { engine, definition }: WaterfallContext,
  entryPoint: EntryPoint,
  charged: ChargedOperation,
): Promise<Waterfall> {
  const { operation: op, actualGasUsed } = charged
  const repeated = await repeat(engine, entryPoint, charged)
  if (repeated === undefined) {
    const { preVerificationGas: prepaid } = op
    const parts: GasPart[] = [
      { kind: 'preVerification', gas: prepaid },
      { kind: 'metered', gas: actualGasUsed - prepaid },
    ]
    return { ...inWei(entryPoint, charged, parts, undefined), state: undefined, hints: [] }
  }
  const { run, past, before } = repeated
  const context = { definition, entryPoint, before, sharedBy: charged.sharedBy }
  const parts = [
    ...gasParts(context, op, run),
    { kind: 'neighbours', gas: actualGasUsed - run.actualGasUsed } as const,
  ]
  const waterfall = inWei(entryPoint, charged, parts, run.baseFee)
  return {
    ...waterfall,
    state: past.isNewest ? 'newest' : 'before',
    hints: wasteHints(op, { ...waterfall, phases: run.phases }),
  }
}

type Run = Extract<Inspection, { ok: true }>

type Repeated = {
  readonly run: Run
  readonly past: IncludedOperation
  readonly before: StateBefore
}

/** The operation's run in its block; undefined where it ends otherwise, or its state is lost. */
async function repeat(
  engine: WaterfallContext['engine'],
  entryPoint: EntryPoint,
  { operation, blockHash, success }: ChargedOperation,
): Promise<Repeated | undefined> {
  return unlessUnknown(
    (async () => {
      const past = await engine.openPast(entryPoint, operation, blockHash)
      const run = await past.by(undefined).inspect(entryPoint, operation)
      if (!run.ok || run.success !== success) return undefined
      return { run, past, before: await past.before() }
    })(),
  )
}

/** The result of a run; undefined where our EVM or the node cannot make it. */
function unlessUnknown<Result>(run: Promise<Result>): Promise<Result | undefined> {
  return run.catch((error: unknown) => {
    if (error instanceof CannotSimulateError) return undefined
    throw error
  })
}

type PartsContext = {
  readonly definition: Pick<
    ChainDefinition,
    'beneficiary' | 'chargedGas' | 'calldataFloor' | 'dataFee'
  >
  readonly entryPoint: EntryPoint
  readonly before: StateBefore
  readonly sharedBy: number
}

/** The gas that the operation must prepay, without any data fee. */
function requiredGas(
  { definition, entryPoint, before, sharedBy }: PartsContext,
  op: Operation,
  { phases, contextSize }: Pick<Run, 'phases' | 'contextSize'>,
): bigint {
  return preVerificationGas(entryPoint, op, {
    ...bundleCharges(definition),
    bundleSize: sharedBy,
    verificationGasUsed: phases.preOp - op.preVerificationGas,
    executionCharge: entryPoint.leastExecutionCharge(op),
    contextSize,
    before,
  })
}

/** The gas of a run by its parts; their sum is `actualGasUsed`. */
export function gasParts(
  context: PartsContext,
  op: Operation,
  run: Pick<Run, 'phases' | 'contextSize' | 'actualGasUsed'>,
): readonly GasPart[] {
  const { definition, entryPoint, sharedBy } = context
  const { phases, contextSize, actualGasUsed } = run
  const prepaid = op.preVerificationGas
  const fixed = Math.ceil(sharedGas(entryPoint, bundleCharges(definition)) / sharedBy)
  const bundleShare = smallest(prepaid, BigInt(fixed))
  const own = greatest(requiredGas(context, op, run) - bundleShare, 0n)
  const calldata = smallest(prepaid - bundleShare, own)
  const { preOp, account, paymaster, call, postOp } = phases
  const charged = actualGasUsed - preOp
  const unusedGas = entryPoint.unusedGasCharge(op, { charged, call, postOp, contextSize })
  return [
    { kind: 'bundleShare', gas: bundleShare },
    { kind: 'calldata', gas: calldata },
    {
      kind: definition.dataFee === 'none' ? 'excess' : 'dataFee',
      gas: prepaid - bundleShare - calldata,
    },
    { kind: 'account', gas: account },
    { kind: 'paymaster', gas: paymaster },
    { kind: 'validationWork', gas: preOp - prepaid - account - paymaster },
    { kind: 'call', gas: call },
    { kind: 'postOp', gas: postOp },
    { kind: 'executionWork', gas: charged - call - postOp - unusedGas },
    { kind: 'unusedGas', gas: unusedGas },
  ]
}

/** The parts in wei. The price follows from the charge, unless that was capped at the prefund. */
export function inWei(
  entryPoint: Pick<EntryPoint, 'requiredPrefund' | 'gasPrice'>,
  { operation: op, actualGasUsed, actualGasCost: charge }: ChargedOperation,
  parts: readonly GasPart[],
  baseFee: bigint | undefined,
): Omit<Waterfall, 'state' | 'hints'> {
  const isExact = charge % actualGasUsed === 0n
  const gasPrice =
    isExact || baseFee === undefined ? charge / actualGasUsed : entryPoint.gasPrice(op, baseFee)
  const priced = parts.map((part) => ({ ...part, wei: part.gas * gasPrice }))
  const capped = {
    kind: 'capped',
    gas: 0n,
    wei: charge - sum(priced.map(({ wei }) => wei)),
  } as const
  const prefund = entryPoint.requiredPrefund(op)
  const all = [...priced, capped].filter(({ gas, wei }) => gas !== 0n || wei !== 0n)
  return { prefund, charge, refund: prefund - charge, gasPrice, parts: all }
}
