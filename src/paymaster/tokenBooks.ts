import type { Address, Hex } from 'viem'
import { encodeFunctionData } from 'viem/utils'
import { createRecent } from '../base/createRecent.js'
import { TankError } from '../base/errors/sponsorshipErrors.js'
import { abi as tankAbi } from '../chain/contracts/generated/TokenTank06.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { getBlock } from '../chain/nodeReads.js'
import { sendTransaction } from '../chain/sendTransaction.js'
import type { ExecutorSigner } from '../chain/signing/executorTransaction.js'
import type { Database } from '../db/database.js'
import { type Collected, collectedBy, listCollected } from './ledger/tokenPayments.js'
import { promisedTokens } from './ledger/tokenQuotes.js'
import type { Tank } from './tanks.js'
import { balanceOf } from './token/holdings.js'

/** The tokens that an app's operations brought a tank, in smallest units; `lost` is in wei. */
export type TokenBook = Collected & {
  /** Tokens that the tank holds now, of all apps that use it. */
  readonly held: bigint
  /** Tokens that it collected from all apps and holds no more: withdrawn, or sent to a treasury. */
  readonly withdrawn: bigint
  /** Tokens that open quotes may still bring in from this app. */
  readonly promised: bigint
}

type BooksContext = {
  readonly database: Database
  readonly node: NodeClient
  readonly definition: Pick<ChainDefinition, 'chainId' | 'pollInterval'>
}

/** The token tanks of a chain as their owner sees them. */
export type TokenBooks = {
  /** The books by app, token and tank; of one app when `appId` names it. */
  list(appId?: string): Promise<readonly TokenBook[]>
  /** Moves `amount` units to `to` and waits for it. `owner` must be the tank's. Throws TankError. */
  withdraw(
    tank: Tank,
    token: Address,
    to: Address,
    amount: bigint,
    owner: ExecutorSigner,
  ): Promise<Hex>
}

/** Milliseconds for which the books of an app stand, however often they are asked for. */
const BOOKS_AGE = 2_000

/** A reader of the books of one app, for callers whose number nobody bounds: each line is a question to the node. */
export function createAppBooks(
  books: Pick<TokenBooks, 'list'>,
): (appId: string) => Promise<readonly TokenBook[]> {
  const recent = createRecent<readonly TokenBook[]>(BOOKS_AGE)
  return (appId) => recent(appId, () => books.list(appId))
}

export function createTokenBooks(context: BooksContext): TokenBooks {
  const { database, node, definition } = context
  const { chainId } = definition
  return {
    async list(appId) {
      const rows = await listCollected(database, { chainId, appId })
      const head = await getBlock(node, 'latest')
      if (head === undefined) throw new Error('the node has no newest block')
      return Promise.all(
        rows.map(async (row) => {
          const { token, tank } = row
          const [held, collected, promised] = await Promise.all([
            balanceOf(node, token, tank, head.number),
            collectedBy(database, chainId, tank, token),
            promisedTokens(database, { chainId, token, appId: row.appId }, head.number),
          ])
          return { ...row, held, promised, withdrawn: collected > held ? collected - held : 0n }
        }),
      )
    },

    async withdraw(tank, token, to, amount, owner) {
      if (owner.address !== tank.owner)
        throw new TankError(
          `Only the owner ${tank.owner} may withdraw; the key is of ${owner.address}.`,
        )
      const held = await balanceOf(node, token, tank.address)
      if (amount > held)
        throw new TankError(`The tank holds ${held} units of ${token}, less than ${amount}.`)
      const args = [token, to, amount] as const
      const data = encodeFunctionData({ abi: tankAbi, functionName: 'withdrawToken', args })
      return (await sendTransaction(context, owner, { to: tank.address, data })).transactionHash
    },
  }
}
