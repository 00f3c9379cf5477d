import { sum } from '../../base/bigints.js'
import type { TokenDefinition } from '../../chain/definition/tokenDefinition.js'
import type { Head } from '../../chain/head.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import type { Database, Transaction } from '../../db/database.js'
import { collectingTanks } from '../ledger/tokenPayments.js'
import { lockToken, promisedTokens } from '../ledger/tokenQuotes.js'
import { perHead } from '../perHead.js'
import { balanceOf } from './holdings.js'
import { exposureReached } from './tokenRefusals.js'

type ExposureContext = {
  readonly database: Database
  readonly node: NodeClient
  readonly chainId: number
}

/** The smallest token units that the tanks of a chain hold after a block, as the chain says. */
async function heldTokens(
  { database, node, chainId }: ExposureContext,
  { address }: Pick<TokenDefinition, 'address'>,
  block: bigint,
): Promise<bigint> {
  const tanks = await collectingTanks(database, chainId, address)
  const held = await Promise.all(tanks.map((tank) => balanceOf(node, address, tank, block)))
  return sum(held)
}

/** The guard that keeps each token, held and promised, within the operator's limit. */
export function createExposure(context: ExposureContext) {
  const readOnce = perHead()

  /** Token units that the tanks hold at a head; read once per head, because many payments ask. */
  const heldAt = (head: Pick<Head, 'hash' | 'number'>, token: TokenDefinition): Promise<bigint> =>
    readOnce(head, token.address, () => heldTokens(context, token, head.number))

  /**
   * Throws TokenPaymentError (TOKEN_EXPOSURE_REACHED) when a quote, which the transaction has
   * stored already, passes the limit. Decisions on one token wait for each other, in all processes.
   */
  const requireRoom = async (
    trx: Transaction,
    token: TokenDefinition,
    { held, maxCharge, block }: { held: bigint; maxCharge: bigint; block: bigint },
  ): Promise<void> => {
    if (token.maxExposure === undefined) return
    const { chainId } = context
    await lockToken(trx, chainId, token.address)
    const promised = await promisedTokens(trx, { chainId, token: token.address }, block)
    const exposed = held + promised
    if (exposed > token.maxExposure) throw exposureReached(token, exposed - maxCharge, maxCharge)
  }

  return { heldAt, requireRoom }
}

export type Exposure = ReturnType<typeof createExposure>
