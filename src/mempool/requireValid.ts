import type { Address, Hex } from 'viem'
import {
  ExecutionRevertedError,
  FeeTooLowError,
  PreVerificationGasTooLowError,
} from '../base/errors/operationErrors.js'
import type { Requester } from '../base/requester.js'
import { unixNow } from '../base/unixNow.js'
import { admissionHorizon } from '../chain/comingBlock.js'
import { delegateToHash, readDelegables } from '../chain/delegations.js'
import { readDeposit } from '../chain/entryPointReads.js'
import { type AdvisedFees, acceptedTip, adviseFees, requireFees } from '../chain/fees.js'
import type { Head } from '../chain/head.js'
import { getTransactionCount } from '../chain/nodeReads.js'
import type { EntryPoint, Failure } from '../erc4337/entryPoint.js'
import type { Fees } from '../erc4337/fees.js'
import type { Operation } from '../erc4337/operation.js'
import { describeRevert } from '../erc4337/revertReason.js'
import {
  answerableFor,
  isStaked,
  type StakePolicy,
  type Verdict,
  type Violation,
} from '../erc4337/rules/index.js'
import { dataGas, dataSteps, estimatedDataGas } from '../gas/dataGas.js'
import { afterSteps, dataPriceAt } from '../gas/dataPrice.js'
import { leastMaxFee } from '../gas/highestPrice.js'
import { describeSilentCall, neededCallGas } from '../gas/neededGas.js'
import { widestOperation } from '../gas/placeholder.js'
import { bundleCharges, bundleTip, preVerificationGas } from '../gas/preVerificationGas.js'
import { differenceFromSigned } from '../paymaster/ledger/signedLimits.js'
import { requireAuthorizationApplies } from '../simulation/authorization.js'
import type { PartyEngine } from '../simulation/chainEngine.js'
import {
  checkRules,
  type RuleCheck,
  type RuleSettings,
  requireRules,
} from '../simulation/checkRules.js'
import type { Observed, StateOverride, Validation, ValidationResult } from '../simulation/engine.js'
import {
  describeSilent,
  isSilent,
  requireValidity,
  signatureFailure,
  toOperationError,
} from '../simulation/operationFailure.js'
import type { AdmittedEntities } from './createEntityView.js'
import { inSequence } from './inSequence.js'
import type { MempoolContext } from './mempoolContext.js'
import type { FirstValidation } from './pool/operations.js'
import { requireCoverage, requireSmallDelegation } from './requireLimits.js'
import { type TokenTankUse, tokenTankUse, withStakedTank } from './tokenTankUse.js'

type AdmissionChecks = {
  /** The party for which it is run; undefined = the service itself. */
  readonly requester: Requester | undefined
  readonly simulateExecution: boolean
  readonly grant: Fees | undefined
  readonly userOpHash: Hex
  readonly appId: string
  /** Hears of the run that validates it, which may be repeated once. */
  readonly onRun: (run: ValidationResult) => unknown
}

/** What the chain and the rules say of an operation that they accept. */
export type ValidOperation = Awaited<ReturnType<typeof requireValid>>

type Rules = { readonly rules: RuleSettings }

/** The engine in it works for the party whose request it is. */
type RuledContext = Omit<MempoolContext, 'engine'> & Rules & { readonly engine: PartyEngine }

/** The facts of an operation that the chain and the rules accept; throws its refusal. */
export async function requireValid(
  parts: MempoolContext & Rules,
  entryPoint: EntryPoint,
  sent: Operation,
  { requester, simulateExecution, grant, userOpHash, appId, onRun }: AdmissionChecks,
) {
  const { node, heads, rules } = parts
  const context = { ...parts, engine: parts.engine.by(requester) }
  const head = heads.current()
  const advising = adviseFees(node, head, context.definition)
  // Where the fees are not known yet, state is read meanwhile: the first operation at a head waits for the node once.
  if ((await Promise.race([advising, undefined])) === undefined)
    await parts.engine.foresee(entryPoint, sent, 'validation')
  const advice = await advising
  if (!grant) requireFees(sent, head, advice)
  const op = await withoutAppliedAuthorization(context, sent)
  requireSmallDelegation(entryPoint, op)
  const tank = await tokenTankUse(context.database, context.definition.chainId, entryPoint, op)
  const { validation, ruleCheck, override } = await checkedValidation(
    context,
    entryPoint,
    op,
    tank,
    onRun,
  )
  const { chainId } = context.definition
  const signature = signatureFailure(validation, { entryPoint, chainId, hash: userOpHash })
  if (signature)
    throw toOperationError(await compareWithSigned(context, entryPoint, sent, signature, appId), op)
  requireRules(context, op, ruleCheck)
  // An exception ends: what it waived is judged again before each bundle.
  if (!tank && ruleCheck.waived.length === 0)
    parts.engine.remember(entryPoint, op, validation, ruleCheck.verdict)
  const next = {
    number: head.number + 1n,
    timestamp: Math.max(head.timestamp, unixNow()),
  }
  requireValidity(validation, op, next, await admissionHorizon(node, head, context.definition))
  const paid = { op, fees: grant ?? op }
  requireTip(entryPoint, paid, validation, advice)
  const sharedBy = await requirePreVerificationGas(context, entryPoint, paid, validation, head)
  const mostCharged = requireCoverage(
    entryPoint,
    op,
    validation,
    head.baseFee + acceptedTip(advice),
  )
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
      rules.mode === 'off'
        ? undefined
        : entitiesOf(entryPoint, op, observed, rules.stakePolicy, ruleCheck.waived),
    record: {
      factory: factoryOf(op, observed),
      // The validation may have been made at a newer head than the fees.
      seenBlock: heads.current().number,
      mostCharged,
      sharedBy,
      validUntilBlock: blocks.until,
      firstValidation: firstValidation(validation, ruleCheck.verdict),
    },
  }
}

/** The failure of a signature of our tank, with the limits that it has signed instead. Others stay. */
async function compareWithSigned(
  { database, node, definition: { chainId } }: RuledContext,
  entryPoint: EntryPoint,
  op: Operation,
  failure: Failure,
  appId: string,
): Promise<Failure> {
  if (failure.code !== 'AA34') return failure
  const delegate = await delegateToHash(node, op)
  const difference = await differenceFromSigned(
    database,
    { appId, chainId, entryPoint, delegate },
    op,
  )
  return difference === undefined
    ? failure
    : { ...failure, message: `${failure.message}: ${difference}` }
}

/** The operation as a bundle would carry it now: an authorization that is in place is left out. */
async function withoutAppliedAuthorization(
  { node }: RuledContext,
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
  onRun: AdmissionChecks['onRun'],
): Promise<{ validation: Validation; ruleCheck: RuleCheck; override?: StateOverride }> {
  const { engine, heads, rules } = context
  for (let isRetry = false; ; isRetry = true) {
    const { hash } = heads.current()
    const attempt = async (state?: StateOverride) => {
      const run = await engine.validate(entryPoint, op, state)
      onRun(run)
      return run
    }
    const { result: validated, ...sequence } = await inSequence(context, entryPoint, op, attempt)
    if (!validated.ok)
      throw toOperationError(await withReason(context, entryPoint, op, validated.failure), op)
    const observed = withStakedTank(validated.validation.observed, tank, rules.stakePolicy)
    const validation = { ...validated.validation, observed }
    const ruleCheck = checkRules(entryPoint, op, observed, rules)
    const isFinal = isRetry || ruleCheck.violations.length === 0
    if (isFinal || (await heads.refresh()).hash === hash)
      return { validation, ruleCheck, ...sequence }
  }
}

/** The failure of an account that reverted without a reason; a run with more gas shows how much it lacked. */
async function withReason(
  { engine, definition: { maxVerificationGas } }: RuledContext,
  entryPoint: EntryPoint,
  op: Operation,
  failure: Failure,
): Promise<Failure> {
  if (!isSilent(failure)) return failure
  const raised = { ...op, verificationGasLimit: maxVerificationGas }
  const again = await engine.validate(entryPoint, raised)
  if (again.ok) return describeSilent(failure, op, again.validation.verificationGasUsed)
  const isSame = isSilent(again.failure) && again.failure.code === failure.code
  const described = describeSilent(failure, op, isSame ? 0n : undefined)
  if (isSame) return described
  return { ...described, message: `${described.message}. With more gas: ${again.failure.message}` }
}

/**
 * @throws FeeTooLowError when nodes would never take a bundle with the operation alone: because they ask for a higher tip
 * where there are many bytes for little gas, or because its prefund pays for less than the least tip
 */
function requireTip(
  entryPoint: EntryPoint,
  { op, fees }: { readonly op: Operation; readonly fees: Fees },
  { contextSize, before }: Validation,
  { tipFloor }: Pick<AdvisedFees, 'tipFloor'>,
): void {
  const asked = bundleTip(entryPoint, [{ op, contextSize, before }], tipFloor)
  const { maxPriorityFeePerGas: bid, maxFeePerGas } = fees
  if (bid < asked) throw new FeeTooLowError('maxPriorityFeePerGas', bid, asked)
  const required = leastMaxFee(entryPoint, op, asked)
  if (maxFeePerGas < required) throw new FeeTooLowError('maxFeePerGas', maxFeePerGas, required)
}

/**
 * The fewest operations of a bundle of which the operation pays its full share: up to the expected number, or, where that
 * has fallen since its estimate, up to the largest of the last minutes. What it pays for fewer than come with it is given
 * back, so it counts for how many it was signed, not how many are expected by now. `fees` are those that are paid for it.
 * @throws PreVerificationGasTooLowError when it pays for none of them
 */
async function requirePreVerificationGas(
  { node, definition, sizes }: RuledContext,
  entryPoint: EntryPoint,
  { op, fees }: { readonly op: Operation; readonly fees: Fees },
  { verificationGasUsed, contextSize, before }: Validation,
  head: Head,
): Promise<number> {
  const price = await dataPriceAt(node, definition.dataFee, head)
  const admissible = price && afterSteps(price, dataSteps.admission)
  const executionCharge = entryPoint.leastExecutionCharge(op)
  const charges = bundleCharges(definition)
  const facts = { ...charges, verificationGasUsed, executionCharge, contextSize, before }
  const requiredBy = (bundleSize: number): bigint =>
    preVerificationGas(entryPoint, op, {
      ...facts,
      bundleSize,
      dataGas: dataGas(entryPoint, { op, fees, bundleSize }, admissible),
    })
  // An authorization goes alone.
  const goesAlone = op.authorization !== undefined
  const alone = { current: 1, fewest: 1, most: 1 }
  const { current, fewest } = goesAlone ? alone : await sizes.of(entryPoint.address)
  const pays = (bundleSize: number) => op.preVerificationGas >= requiredBy(bundleSize)
  /** Between two sizes, of which it pays for the larger one. */
  const fewestOf = (least: number, most: number): number => {
    if (least >= most) return most
    const middle = Math.floor((least + most) / 2)
    return pays(middle) ? fewestOf(least, middle) : fewestOf(middle + 1, most)
  }
  const required = requiredBy(current)
  if (op.preVerificationGas >= required) return fewestOf(fewest, current)
  // Another process may have published another size a moment ago.
  const { most } = goesAlone ? alone : await sizes.newest(entryPoint.address)
  if (most > current && pays(most)) return fewestOf(fewest, most)
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
  { engine, definition }: RuledContext,
  entryPoint: EntryPoint,
  op: Operation,
  override: StateOverride | undefined,
): Promise<void> {
  const executed = await engine.execute(entryPoint, op, override)
  if (!executed.ok) throw toOperationError(executed.failure, op)
  if (!executed.success) {
    const reason =
      describeRevert(executed.revertData) ??
      describeSilentCall(op, await neededCallGas(engine, entryPoint, op, definition, override))
    throw new ExecutionRevertedError(reason, executed.revertData)
  }
}

/** The entities of a validated operation, as reputation counts them. */
function entitiesOf(
  entryPoint: EntryPoint,
  op: Operation,
  observed: Observed,
  policy: StakePolicy,
  waived: readonly Violation[],
): AdmittedEntities {
  const { account, factory, paymaster } = observed.stakes
  return {
    entryPoint: entryPoint.address,
    sender: op.sender,
    factory: factoryOf(op, observed),
    paymaster: op.paymaster,
    staked: {
      account: isStaked(account, policy),
      factory: isStaked(factory, policy),
      paymaster: isStaked(paymaster, policy),
    },
    excepted: waived.map((violation) => answerableFor(violation).role),
  }
}

/** The factory that creates the sender; undefined where the sender exists already. */
function factoryOf(op: Operation, observed: Observed): Address | undefined {
  return observed.kind === 'record' && observed.senderExists ? undefined : op.factory
}

/**
 * The facts of the first validation with which the second one is compared. Code hashes are known only
 * where the rules were checked on a record.
 */
function firstValidation(
  { observed, contextSize, verificationGasUsed, before }: Validation,
  verdict: Verdict | undefined,
): FirstValidation {
  const facts = { contextSize, verificationGasUsed, before }
  if (observed.kind !== 'record' || verdict === undefined) return { ...facts, codeHashes: {} }
  const { codeHashes } = observed
  const visited = [...verdict.visitedCode.keys()].flatMap((address) => {
    const hash = codeHashes.get(address)
    return hash === undefined ? [] : [[address, hash] as const]
  })
  return { ...facts, codeHashes: Object.fromEntries(visited) }
}
