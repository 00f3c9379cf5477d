import type { Address, Hex } from 'viem'
import { ExecutionRevertedError } from '../base/errors/operationErrors.js'
import { readTokenBalance, readTokenFacts, type TokenFacts } from '../chain/contracts/tokenReads.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { getBalance } from '../chain/nodeReads.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import { describeRevert } from '../erc4337/revertReason.js'
import { type AssetChange, type AssetMove, changesOf } from './assetMoves.js'
import type { Inspecting } from './engine.js'
import { describeFailure, toOperationError } from './operationFailure.js'

/** The assets that an operation moves, and what the chain says of the tokens among them. */
export type SimulatedAssets = {
  readonly moves: readonly AssetMove[]
  readonly facts: ReadonlyMap<Address, TokenFacts>
  /** The block on whose state it ran. */
  readonly blockHash: Hex
}

/** Tokens that are asked for their names: three calls each. */
const MOST_NAMED = 20

/**
 * Runs an operation on the newest state and looks at what it moves. Its signature and its time range are not checked.
 *
 * @throws an operation error when the EntryPoint refuses
 * @throws ExecutionRevertedError when the call reverts
 */
export async function simulateAssets(
  { node, engine }: { readonly node: NodeClient; readonly engine: Inspecting },
  entryPoint: EntryPoint,
  op: Operation,
): Promise<SimulatedAssets> {
  const run = await engine.inspect(entryPoint, op)
  if (!run.ok) {
    throw toOperationError(await describeFailure(node, entryPoint, op, run.failure), op)
  }
  const { success, revertData, moves, blockHash } = run
  if (!success)
    throw new ExecutionRevertedError(describeRevert(revertData) ?? 'no reason given', revertData)
  const tokens = [...new Set(moves.flatMap(({ token }) => token ?? []))].slice(0, MOST_NAMED)
  const facts = await Promise.all(
    tokens.map(async (token) => [token, await readTokenFacts(node, token, blockHash)] as const),
  )
  return { moves, facts: new Map(facts), blockHash }
}

/** A change with the balance before; undefined where the token does not say it. */
export type BalanceChange = AssetChange & { readonly before: bigint | undefined }

/** Assets whose balance is read. */
const MOST_BALANCES = 50

/** What `holder` wins and loses. */
export function readBalanceChanges(
  node: NodeClient,
  holder: Address,
  { moves, blockHash }: SimulatedAssets,
): Promise<readonly BalanceChange[]> {
  return Promise.all(
    changesOf(holder, moves).map(async (change, at) => {
      const { standard, token, tokenId, diff } = change
      if (token === undefined)
        return { ...change, before: await getBalance(node, holder, blockHash) }
      if (standard === 'erc721') return { ...change, before: diff < 0n ? 1n : 0n }
      const asset = { token, tokenId }
      const isRead = at < MOST_BALANCES
      return {
        ...change,
        before: isRead ? await readTokenBalance(node, asset, holder, blockHash) : undefined,
      }
    }),
  )
}
