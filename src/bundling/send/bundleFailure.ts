import type { Address } from 'viem'
import { parseTransaction } from 'viem/utils'
import { comingBlockOverride } from '../../chain/comingBlock.js'
import { ethCall } from '../../chain/ethCall.js'
import type { Head } from '../../chain/head.js'
import type { Fees } from '../../entrypoint/fees.js'
import { pricedBy } from '../../signing/transactionType.js'
import type { OpenBundle } from '../../store/outbox/bundles.js'
import { operationsInBundle } from '../../store/pool/operations.js'
import { delegationOverride } from '../assemble/bundleAuthorizations.js'
import type { BundlingContext } from '../bundlingContext.js'
import { newestAttempt } from './lanes.js'

/**
 * The reason for which the newest transaction of a bundle would revert after `head`, at `fees` where they are given;
 * undefined when it succeeds.
 */
export async function bundleFailure(
  { database, node, entryPoints, definition }: BundlingContext,
  head: Head,
  bundle: OpenBundle,
  fees?: Fees,
): Promise<string | undefined> {
  const { to, data = '0x', gas } = parseTransaction(newestAttempt(bundle).raw)
  if (!to || gas === undefined) throw new Error(`bundle ${bundle.id} holds no call`)
  const ops = (await operationsInBundle(database, bundle.id)).map(({ operation }) => operation)
  const call = { from: bundle.executor, to: to.toLowerCase() as Address, data, gas }
  const request = fees ? { ...call, price: pricedBy(definition.transactionType, fees) } : call
  const pretended = await comingBlockOverride(node, head)
  const outcome = await ethCall(node, request, head.number, delegationOverride(ops), pretended)
  if (outcome.ok) return undefined
  const entryPoint = entryPoints.find(({ address }) => address === bundle.entryPoint)
  return entryPoint?.decodeFailure(outcome.revertData)?.message ?? outcome.message
}
