import type { Hex } from 'viem'
import type { Head } from '../../chain/head.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import type { TokenDefinition } from '../../chain/tokenDefinition.js'
import type { Database } from '../../store/database.js'
import { collectingTanks } from '../../store/ledger/tokenPayments.js'
import { lockToken, promisedTokens } from '../../store/ledger/tokenQuotes.js'
import { balanceOf } from './holdings.js'
import { exposureReached } from './tokenRefusals.js'

type ExposureContext = {
  readonly database: Database
  readonly node: NodeClient
  readonly chainId: number
}

/** Smallest token units that the tanks of a chain hold after a block, by the chain itself. */
export async function heldTokens(
  { database, node, chainId }: ExposureContext,
  { address }: Pick<TokenDefinition, 'address'>,
  block: bigint,
): Promise<bigint> {
  const tanks = await collectingTanks(database, chainId, address)
  const held = await Promise.all(tanks.map((tank) => balanceOf(node, address, tank, block)))
  return held.reduce((sum, each) => sum + each, 0n)
}

/** Keeps what is held of each token, and promised, within the operator's limit. */
export function createExposure(context: ExposureContext) {
  let hash: Hex | undefined
  const known = new Map<string, Promise<bigint>>()

  /** Read once per head: many payments ask. */
  const heldAt = (head: Pick<Head, 'hash' | 'number'>, token: TokenDefinition): Promise<bigint> => {
    if (head.hash !== hash) {
      known.clear()
      hash = head.hash
    }
    const held = known.get(token.address) ?? heldTokens(context, token, head.number)
    known.set(token.address, held)
    held.catch(() => known.delete(token.address))
    return held
  }

  /**
   * Throws when a quote that the transaction has stored already passes the limit. Decisions on one
   * token wait for each other, in all processes.
   */
  const requireRoom = async (
    trx: Database,
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
