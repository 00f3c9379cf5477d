import type { Hex } from 'viem'
import { unixNow } from '../base/unixNow.js'
import { admissionHorizon } from '../chain/comingBlock.js'
import { readDelegables } from '../chain/delegations.js'
import { readDeposit } from '../chain/entryPointReads.js'
import { type AdvisedFees, adviseFees, requireFees } from '../chain/fees.js'
import type { Head } from '../chain/head.js'
import { getTransactionCount } from '../chain/nodeReads.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Fees } from '../entrypoint/fees.js'
import type { Operation } from '../entrypoint/operation.js'
import { describeRevert } from '../entrypoint/revertReason.js'
import {
  ExecutionRevertedError,
  FeeTooLowError,
  PreVerificationGasTooLowError,
} from '../errors/operationErrors.js'
import { bundleTip } from '../gas/bundleTip.js'
import { dataGas, dataSteps, estimatedDataGas } from '../gas/dataGas.js'
import { afterSteps } from '../gas/dataPrice.js'
import { dataPriceAt } from '../gas/dataPriceAt.js'
import { leastMaxFee } from '../gas/highestPrice.js'
import { bundleCharges, preVerificationGas } from '../gas/preVerificationGas.js'
import { widestOperation } from '../gas/widestOperation.js'
import { requireAuthorizationApplies } from '../validation/authorization.js'
import { checkRules, type RuleCheck, type RuleSettings } from '../validation/checkRules.js'
import type { StateOverride, Validation } from '../validation/engine.js'
import { requireValidity, toOperationError } from '../validation/operationFailure.js'
import { requireRules } from '../validation/requireRules.js'
import { signatureFailure } from '../validation/signatureFailure.js'
import { entitiesOf, factoryOf, firstValidation } from './admissionRecord.js'
import { inSequence } from './inSequence.js'
import type { MempoolContext } from './mempoolContext.js'
import { requireCoverage } from './requireCoverage.js'
import { type TokenTankUse, tokenTankUse, withStakedTank } from './tokenTankUse.js'

type AdmissionChecks = {
  readonly simulateExecution: boolean
  readonly grant: Fees | undefined
  readonly userOpHash: Hex
}

type RuledContext = MempoolContext & { readonly rules: RuleSettings }

/** The facts of an operation that the chain and the rules accept; throws its refusal. */
export async function requireValid(
  context: RuledContext,
  entryPoint: EntryPoint,
  sent: Operation,
  { simulateExecution, grant, userOpHash }: AdmissionChecks,
) {
  const { node, heads, rules } = context
  const head = heads.current()
  const advice = await adviseFees(node, head, context.definition)
  if (!grant) requireFees(sent, head, advice)
  const op = await withoutAppliedAuthorization(context, sent)
  const tank = await tokenTankUse(context.database, context.definition.chainId, entryPoint, op)
  const { validation, ruleCheck, override } = await checkedValidation(context, entryPoint, op, tank)
  const { chainId } = context.definition
  const signature = signatureFailure(validation, { entryPoint, chainId, hash: userOpHash })
  if (signature) throw toOperationError(signature, op)
  requireRules(context, op, ruleCheck)
  const next = {
    number: head.number + 1n,
    timestamp: Math.max(head.timestamp, unixNow()),
  }
  requireValidity(validation, op, next, await admissionHorizon(node, head, context.definition))
  const paid = { op, fees: grant ?? op }
  requireTip(entryPoint, paid, validation, advice)
  const sharedBy = await requirePreVerificationGas(context, entryPoint, paid, validation, head)
  const mostCharged = requireCoverage(entryPoint, op, validation, head.baseFee)
  if (simulateExecution || tank?.chargesAfterwards === true)
    await requireExecution(context, entryPoint, op, override)
  const { observed, validUntil, blocks } = validation
  const isRecorded = observed.kind === 'record'
  const { address } = entryPoint
  return {
    validUntil,
    baseFee: head.baseFee,
    deposit: isRecorded
      ? observed.deposit
      : op.paymaster && (await readDeposit(node, address, op.paymaster)),
    entities:
      rules.mode === 'off' ? undefined : entitiesOf(entryPoint, op, observed, rules.stakePolicy),
    record: {
      factory: factoryOf(op, observed),
      seenBlock: head.number,
      mostCharged,
      sharedBy,
      validUntilBlock: blocks.until,
      firstValidation: firstValidation(validation, ruleCheck.verdict),
    },
  }
}

/** The operation as a bundle would carry it now: an authorization that is in place is left out. */
async function withoutAppliedAuthorization(
  { node }: MempoolContext,
  op: Operation,
): Promise<Operation> {
  const { sender, authorization } = op
  if (authorization === undefined) return op
  const [[account], pending] = await Promise.all([
    readDelegables(node, [sender]),
    getTransactionCount(node, sender, 'pending'),
  ])
  if (account === undefined) throw new Error('one account was asked for')
  const effect = requireAuthorizationApplies(authorization, account, BigInt(pending))
  return effect === 'inPlace' ? { ...op, authorization: undefined } : op
}

/**
 * The validation with the check of its rules. A broken rule is checked again on a newer block, if there
 * is one: the sender may have seen a stake or a contract there that was not read yet.
 */
async function checkedValidation(
  context: RuledContext,
  entryPoint: EntryPoint,
  op: Operation,
  tank: TokenTankUse | undefined,
): Promise<{ validation: Validation; ruleCheck: RuleCheck; override?: StateOverride }> {
  const { engine, heads, rules } = context
  for (let isRetry = false; ; isRetry = true) {
    const { hash } = heads.current()
    const { result: validated, ...sequence } = await inSequence(context, entryPoint, op, (state) =>
      engine.validate(entryPoint, op, state),
    )
    if (!validated.ok) throw toOperationError(validated.failure, op)
    const observed = withStakedTank(validated.validation.observed, tank, rules.stakePolicy)
    const validation = { ...validated.validation, observed }
    const ruleCheck = checkRules(entryPoint, op, observed, rules)
    const isFinal = isRetry || ruleCheck.violations.length === 0
    if (isFinal || (await heads.refresh()).hash === hash)
      return { validation, ruleCheck, ...sequence }
  }
}

/**
 * @throws FeeTooLowError when nodes would never take a bundle with the operation alone: because they ask for a higher tip
 * where there are many bytes for little gas, or because its prefund pays for less than the least tip
 */
function requireTip(
  entryPoint: EntryPoint,
  { op, fees }: { readonly op: Operation; readonly fees: Fees },
  { contextSize }: Validation,
  { tipFloor }: Pick<AdvisedFees, 'tipFloor'>,
): void {
  const asked = bundleTip(entryPoint, [{ op, contextSize }], tipFloor)
  const { maxPriorityFeePerGas: offered, maxFeePerGas } = fees
  if (offered < asked) throw new FeeTooLowError('maxPriorityFeePerGas', offered, asked)
  const required = leastMaxFee(entryPoint, op, asked)
  if (maxFeePerGas < required) throw new FeeTooLowError('maxFeePerGas', maxFeePerGas, required)
}

/**
 * The number of operations of a bundle of which the operation pays its full share: the expected one, or, where that has
 * fallen since its estimate, the largest of the last minutes. `fees` are those that are paid for it.
 * @throws PreVerificationGasTooLowError when it pays for none of them
 */
async function requirePreVerificationGas(
  { node, definition, sizes }: MempoolContext,
  entryPoint: EntryPoint,
  { op, fees }: { readonly op: Operation; readonly fees: Fees },
  { verificationGasUsed, contextSize }: Validation,
  head: Head,
): Promise<number> {
  const price = await dataPriceAt(node, definition.dataFee, head)
  const admissible = price && afterSteps(price, dataSteps.admission)
  const executionCharge = entryPoint.leastExecutionCharge(op)
  const facts = { ...bundleCharges(definition), verificationGasUsed, executionCharge, contextSize }
  const requiredBy = (bundleSize: number): bigint =>
    preVerificationGas(entryPoint, op, {
      ...facts,
      bundleSize,
      dataGas: dataGas(entryPoint, { op, fees, bundleSize }, admissible),
    })
  const { current } = await sizes.of(entryPoint.address)
  const required = requiredBy(current)
  if (op.preVerificationGas >= required) return current
  // Another process may have told another size a moment ago.
  const { most } = await sizes.newest(entryPoint.address)
  if (most > current && op.preVerificationGas >= requiredBy(most)) return most
  const share = { ...facts, bundleSize: current }
  const data = { op, fees, bundleSize: current }
  // The operation that comes next has other bytes and meets another price of data: the figure is enough for both.
  const enough =
    price &&
    preVerificationGas(entryPoint, widestOperation(op), {
      ...share,
      limited: op,
      dataGas: estimatedDataGas(entryPoint, data, price),
    })
  throw new PreVerificationGasTooLowError(op.preVerificationGas, enough ?? required)
}

async function requireExecution(
  { engine }: MempoolContext,
  entryPoint: EntryPoint,
  op: Operation,
  override: StateOverride | undefined,
): Promise<void> {
  const executed = await engine.execute(entryPoint, op, override)
  if (!executed.ok) throw toOperationError(executed.failure, op)
  if (!executed.success) {
    const reason = describeRevert(executed.revertData) ?? 'no reason given'
    throw new ExecutionRevertedError(reason, executed.revertData)
  }
}
