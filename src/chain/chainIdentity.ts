import type { Hex } from 'viem'

/** The chain that the nodes of a client are to serve, and what their answers have shown of it. */
export type ChainIdentity = {
  readonly chainId: number
  /** Whether it may begin anew with another block 0: a development chain. */
  readonly restarts: boolean
  /** Hash of its block 0; undefined until a node has answered with it. */
  genesis: Hex | undefined
  /** The last blocks that are known to be of the chain: one of them, or a child of one, is too. */
  readonly recent: Set<Hex>
  /** What the nodes serve that serve another chain, by URL. They are asked for their head only. */
  readonly strangers: Map<string, string>
}

/** @param genesis hash of block 0 as our books have it */
export function createChainIdentity(
  {
    chainId,
    restarts = false,
  }: { readonly chainId: number; readonly restarts?: boolean | undefined },
  genesis?: Hex,
): ChainIdentity {
  return { chainId, restarts, genesis, recent: new Set(), strangers: new Map() }
}

/** The chain that answers with this chain id and block 0, where it is not ours; both as nodes give them. */
export function otherChain(
  chain: Pick<ChainIdentity, 'chainId' | 'genesis'>,
  id: unknown,
  genesis: Hex | undefined,
): string | undefined {
  if (!isIdOf(chain, id)) return `chain ${Number(id)}`
  if (genesis === undefined || chain.genesis === undefined || genesis === chain.genesis)
    return undefined
  return `a chain ${chain.chainId} with another block 0 (${genesis})`
}

/** Is it our chain id, as a node gives it? */
export function isIdOf({ chainId }: Pick<ChainIdentity, 'chainId'>, id: unknown): boolean {
  return Number(id) === chainId
}
