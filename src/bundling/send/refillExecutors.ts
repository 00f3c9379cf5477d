import type { Address } from 'viem'
import { parseTransaction } from 'viem/utils'
import { adviseFees } from '../../chain/fees.js'
import { NodeRpcError } from '../../chain/nodeErrors.js'
import { SignerUnavailableError } from '../../errors/signerErrors.js'
import { fromHex } from '../../evm/index.js'
import type { DataPrice } from '../../gas/dataPrice.js'
import { dataPriceAt } from '../../gas/dataPriceAt.js'
import { placeholder } from '../../gas/placeholder.js'
import { type OpenBundle, openBundles } from '../../store/outbox/bundles.js'
import type { BundlingContext } from '../bundlingContext.js'
import type { Followed } from './followBundles.js'
import { committedCost, nextNonce } from './lanes.js'
import { planRefills } from './planRefills.js'
import { sendTransfer } from './sendTransfer.js'

/** Gas of a plain transfer, with room for chains that charge for its data. */
const TRANSFER_GAS = 50_000n
/** Bytes as many as a signed transfer has at most, none of which compresses. */
const transferBytes = fromHex(placeholder(160, 51))

/**
 * Sends money of the treasury to executors that run short of it. Refills go through the same outbox as
 * bundles, so that a crash neither loses nor repeats one: while a refill of an executor is open there
 * is no other, and when it is closed its money is in the balance that was read.
 */
export async function refillExecutors(
  context: BundlingContext,
  { head, states, blocked }: Followed,
): Promise<void> {
  const { database, definition, node, signers, treasury, logger } = context
  const { chainId, maxBundlesPerExecutor, treasury: terms } = definition
  const treasuryState = treasury && states.get(treasury.address)
  if (!treasury || !terms || !treasuryState || blocked.has(treasury.address)) return
  const executors = signers.flatMap(({ address }) =>
    address === treasury.address ? [] : (states.get(address) ?? []),
  )
  if (executors.every(({ balance }) => balance >= terms.refillBelow)) return

  const bundles = await openBundles(database, chainId)
  const { fast: fees } = await adviseFees(node, head, definition)
  const dataPrice = await dataPriceAt(node, definition.dataFee, head)
  let lane = {
    executor: treasury.address,
    mined: treasuryState.mined,
    open: bundles.filter(({ executor }) => executor === treasury.address),
  }
  const { refills, unserved } = planRefills({
    executors,
    inFlight: new Set(lane.open.flatMap(recipient)),
    available: treasuryState.balance - committedCost(lane),
    transferCost: TRANSFER_GAS * fees.maxFeePerGas + (dataPrice ? transferData(dataPrice) : 0n),
    refillBelow: terms.refillBelow,
    refillTo: terms.refillTo,
    maxRefills: maxBundlesPerExecutor - lane.open.length,
  })
  if (unserved.length > 0) {
    const { address, balance } = treasuryState
    logger.error({ treasury: address, balance, unserved }, 'the treasury cannot refill executors')
  }
  for (const { to, value } of refills) {
    try {
      const nonce = nextNonce(lane)
      const refill = await sendTransfer(context, treasury, 'refill', { to, value, nonce, fees })
      lane = { ...lane, open: [...lane.open, refill].sort(byNonce) }
      logger.info({ bundleId: refill.id, executor: to, value, nonce }, 'executor is being refilled')
    } catch (error) {
      if (!(error instanceof NodeRpcError || error instanceof SignerUnavailableError)) throw error
      logger.error({ executor: to, reason: error.message }, 'the executor cannot be refilled')
      return
    }
  }
}

/** wei that a transfer may cost beside its gas; twice the fee of the moment, which may rise. */
function transferData({ feeOf, sizeOf, operatorFeeOf }: DataPrice): bigint {
  return 2n * feeOf(sizeOf(transferBytes)) + operatorFeeOf(TRANSFER_GAS)
}

/** The executor for which an open refill is; empty for other transactions. */
function recipient({ kind, attempts: [first] }: OpenBundle): Address[] {
  const { to } = kind === 'refill' ? parseTransaction(first.raw) : {}
  return to ? [to.toLowerCase() as Address] : []
}

function byNonce(a: OpenBundle, b: OpenBundle): number {
  return a.nonce < b.nonce ? -1 : 1
}
