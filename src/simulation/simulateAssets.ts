import type { Address, Hex } from 'viem'
import { ExecutionRevertedError } from '../base/errors/operationErrors.js'
import { readTokenBalance, readTokenFacts, type TokenFacts } from '../chain/contracts/tokenReads.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { getBalance } from '../chain/nodeReads.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import { describeRevert } from '../erc4337/revertReason.js'
import type { AssetMove } from './assetMoves.js'
import type { Inspecting } from './engine.js'
import { describeFailure, toOperationError } from './operationFailure.js'

/** What the chain says of its token; undefined of the coin, and of tokens that were not asked. */
type Named = { readonly facts: TokenFacts | undefined }

/** The assets that an operation moves on the state of a block. */
export type SimulatedAssets = {
  readonly moves: readonly (AssetMove & Named)[]
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
  if (!run.ok) throw toOperationError(await describeFailure(node, entryPoint, op, run.failure), op)
  const { success, revertData, moves, blockHash } = run
  if (!success)
    throw new ExecutionRevertedError(describeRevert(revertData) ?? 'no reason given', revertData)
  const tokens = [...new Set(moves.flatMap(({ token }) => token ?? []))].slice(0, MOST_NAMED)
  const answers = await Promise.all(
    tokens.map(async (token) => [token, await readTokenFacts(node, token, blockHash)] as const),
  )
  const facts = new Map<Address | undefined, TokenFacts>(answers)
  return { moves: moves.map((move) => ({ ...move, facts: facts.get(move.token) })), blockHash }
}

/** The part of an asset that an account wins, or loses (negative); and what it had before, where the token says that. */
export type BalanceChange = Pick<AssetMove, 'standard' | 'token' | 'tokenId'> &
  Named & { readonly diff: bigint; readonly before: bigint | undefined }

/** Assets whose balance is read. */
const MOST_BALANCES = 50

/** What `holder` wins and loses, in the order in which each asset moves first. */
export function readBalanceChanges(
  node: NodeClient,
  holder: Address,
  { moves, blockHash }: SimulatedAssets,
): Promise<readonly BalanceChange[]> {
  const changes = new Map<string, BalanceChange>()
  for (const { kind, standard, token, tokenId, from, to, amount, facts } of moves) {
    if (kind !== 'transfer' || from === to || (from !== holder && to !== holder)) continue
    const key = `${token} ${tokenId}`
    const diff = (changes.get(key)?.diff ?? 0n) + (from === holder ? -amount : amount)
    changes.set(key, { standard, token, tokenId, facts, diff, before: undefined })
  }
  const changed = [...changes.values()].filter(({ diff }) => diff !== 0n)
  return Promise.all(
    changed.map(async (change, at) => {
      const { standard, token, tokenId, diff } = change
      if (standard === 'ERC721') return { ...change, before: diff < 0n ? 1n : 0n }
      if (at >= MOST_BALANCES) return change
      const before =
        token === undefined
          ? await getBalance(node, holder, blockHash)
          : await readTokenBalance(node, { token, tokenId }, holder, blockHash)
      return { ...change, before }
    }),
  )
}
