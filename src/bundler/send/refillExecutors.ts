import type { Address, Hex } from 'viem'
import { parseTransaction } from 'viem/utils'
import { compareBigints, smallest } from '../../base/bigints.js'
import { faultPoint } from '../../base/faults.js'
import type { ExecutorSigner } from '../../chain/signing/executorTransaction.js'
import type { Fees } from '../../erc4337/fees.js'
import { fromHex } from '../../evm/index.js'
import { type DataPrice, dataPriceAt } from '../../gas/dataPrice.js'
import { placeholder } from '../../gas/placeholder.js'
import type { BundlingContext } from '../bundlingContext.js'
import { executorFees } from '../feeCeiling.js'
import { type OpenBundle, rawTransactions } from '../outbox/bundles.js'
import { storeBundle } from '../outbox/outbox.js'
import { signAttempt, transferTransaction } from './attempts.js'
import { type Followed, lanesOf, send } from './followBundles.js'
import { committedCost, nextNonce } from './lanes.js'
import { noteTrouble } from './noteTrouble.js'

/** Gas of a plain transfer, with a margin for chains that charge for its data. */
const TRANSFER_GAS = 50_000n
/** Bytes as many as a signed transfer or deposit has at most, none of which compresses. */
const transferBytes = fromHex(placeholder(200, 51))

const POOR = 'the treasury cannot refill executors'
const NOT_REFILLED = 'the executor cannot be refilled'

/**
 * Sends money of the treasury to executors that run short of it. Refills go through the same outbox as
 * bundles, so that a crash neither loses nor repeats one: while a refill of an executor is open there
 * is no other, and when it is closed its money is in the balance that was read.
 */
export async function refillExecutors(context: BundlingContext, followed: Followed): Promise<void> {
  const { definition, node, signers, treasury, logger, problems } = context
  const { maxBundlesPerExecutor, treasury: terms } = definition
  const { head, states, blocked } = followed
  const treasuryState = treasury && states.get(treasury.address)
  if (!treasury || !terms || !treasuryState || blocked.has(treasury.address)) return
  const executors = signers.flatMap(({ address }) =>
    address === treasury.address ? [] : (states.get(address) ?? []),
  )
  if (executors.every(({ balance }) => balance >= terms.refillBelow)) return

  const bundles = await lanesOf(context, followed)
  const { fast: fees } = await executorFees(context, head)
  const dataPrice = await dataPriceAt(node, definition.dataFee, head)
  let lane = {
    executor: treasury.address,
    mined: treasuryState.mined,
    open: bundles.filter(({ executor }) => executor === treasury.address),
  }
  const { refills, unserved } = planRefills({
    executors,
    inFlight: await recipients(context, lane.open),
    available: treasuryState.balance - committedCost(lane),
    transferCost: transferCost(dataPrice, fees),
    refillBelow: terms.refillBelow,
    refillTo: terms.refillTo,
    maxRefills: maxBundlesPerExecutor - lane.open.length,
  })
  const { address, balance } = treasuryState
  const facts = { treasury: address, balance, reason: unserved.join(' ') }
  if (unserved.length === 0) problems.end(address, POOR)
  else problems.error(address, POOR, facts)
  for (const { to, value } of refills) {
    followed.lanes.bundles = undefined
    try {
      const nonce = nextNonce(lane)
      const refill = await sendTransfer(context, treasury, 'refill', { to, value, nonce, fees })
      const open = [...lane.open, refill].sort((a, b) => compareBigints(a.nonce, b.nonce))
      lane = { ...lane, open }
      problems.end(to, NOT_REFILLED)
      logger.info({ bundleId: refill.id, executor: to, value, nonce }, 'executor is being refilled')
    } catch (error) {
      noteTrouble(context, NOT_REFILLED, { executor: to }, error)
      return
    }
  }
}

/** wei that a transfer costs at most: its gas and, on top of it, twice the current fee for data, which may rise. */
export function transferCost(
  data: DataPrice | undefined,
  { maxFeePerGas }: Fees,
  gas = TRANSFER_GAS,
): bigint {
  const dataFee = data && 2n * data.feeOf(data.sizeOf(transferBytes)) + data.operatorFeeOf(gas)
  return gas * maxFeePerGas + (dataFee ?? 0n)
}

/** The executors for which refills are open. */
async function recipients(
  { database, definition }: BundlingContext,
  open: readonly OpenBundle[],
): Promise<ReadonlySet<Address>> {
  const refills = open.filter(({ kind }) => kind === 'refill')
  const hashes = refills.map(({ attempts: [first] }) => first.hash)
  const raws = [...(await rawTransactions(database, definition.chainId, hashes)).values()]
  const addresses = raws.flatMap((raw) => parseTransaction(raw).to ?? [])
  return new Set(addresses.map((address) => address.toLowerCase() as Address))
}

type Refillable = { readonly address: Address /** wei */; readonly balance: bigint }

type Refill = { readonly to: Address /** wei */; readonly value: bigint }

type RefillConditions = {
  readonly executors: readonly Refillable[]
  /** Executors with a refill on its way. */
  readonly inFlight: ReadonlySet<Address>
  /** wei that the treasury can spend. */
  readonly available: bigint
  /** The most wei that one transfer can cost. */
  readonly transferCost: bigint
  readonly refillBelow: bigint
  readonly refillTo: bigint
  /** The most transfers that may go out now. */
  readonly maxRefills: number
}

/**
 * The transfers that fill executors below `refillBelow` up to `refillTo`, the poorest first. When the
 * treasury is short, the last one gets the rest if that lifts it to `refillBelow`; less would not let it
 * send again.
 */
export function planRefills(conditions: RefillConditions) {
  const { executors, inFlight, transferCost, refillBelow, refillTo, maxRefills } = conditions
  const candidates = executors
    .filter(({ address, balance }) => balance < refillBelow && !inFlight.has(address))
    .sort((a, b) => compareBigints(a.balance, b.balance))
  const refills: Refill[] = []
  /** Executors that need money for which the treasury has none. */
  const unserved: Address[] = []
  let { available } = conditions
  for (const { address, balance } of candidates) {
    const value = smallest(refillTo - balance, available - transferCost)
    if (balance + value < refillBelow) unserved.push(address)
    else if (refills.length < maxRefills) {
      refills.push({ to: address, value })
      available -= value + transferCost
    }
  }
  return { refills, unserved }
}

type Transfer = {
  readonly to: Address
  /** wei */
  readonly value: bigint
  readonly data?: Hex
  readonly nonce: bigint
  readonly fees: Fees
}

/** Signs, stores, then sends a transaction without operations. */
export async function sendTransfer(
  context: BundlingContext,
  signer: ExecutorSigner,
  kind: 'filler' | 'refill' | 'return',
  transfer: Transfer,
  returned?: { readonly tank: Address; readonly surpluses: readonly Hex[] },
): Promise<OpenBundle> {
  const { database, definition, node } = context
  const { chainId } = definition
  const { address: executor } = signer
  const { nonce, value } = transfer
  const gift = value === 0n ? undefined : { recipient: returned?.tank ?? transfer.to, value }
  const transaction = await transferTransaction(node, { chainId, from: executor, ...transfer })
  const attempt = await signAttempt(signer, transaction, kind === 'filler')
  const stored = { kind, entryPoint: null, executor, nonce, relayedFrom: undefined }
  const owed = returned?.surpluses ?? []
  const id = await storeBundle(database, { chainId, ...stored, gift }, attempt, owed)
  if (id === undefined) throw new Error('a transaction without operations was superseded')
  faultPoint('bundle:committed')
  const counts = { operationCount: 0, waitingCount: 0, senders: [], cancelRequested: false }
  const ends = { validUntil: 0, validUntilBlock: 0n }
  const bundle: OpenBundle = {
    id,
    ...stored,
    ...counts,
    ...ends,
    attempts: [{ ...attempt, age: 0 }],
  }
  await send(context, bundle)
  return bundle
}
