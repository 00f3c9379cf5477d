import type { Address } from 'viem'

/** A contract that answers latestRoundData and decimals, as Chainlink's do. */
export type FeedDefinition = {
  readonly address: Address
  /** Seconds within which the feed promises a new answer; an older one is stale. */
  readonly heartbeat: number
  /** Whole units (USD, or native coins) times 10^18 outside of which an answer is not believed. */
  readonly min: bigint | undefined
  readonly max: bigint | undefined
}

/** A source of a token's price. Every source gives whole tokens per native coin. */
export type PriceSourceDefinition =
  /** A constant price, whole tokens per native coin times 10^18: for development. */
  | { readonly kind: 'fixed'; readonly perNative: bigint }
  /** `token` and `native` in the same currency; without `native`, `token` is in native coins. */
  | {
      readonly kind: 'feeds'
      readonly token: FeedDefinition
      readonly native: FeedDefinition | undefined
    }
  /** A JSON document; `path` leads to whole tokens per native coin, `data.0.price`. */
  | { readonly kind: 'http'; readonly url: URL; readonly path: readonly string[] }

/** On a layer 2 prices stand still while its sequencer does; they are believed some time after. */
export type SequencerDefinition = {
  readonly address: Address
  /** Seconds after the sequencer came back. */
  readonly gracePeriod: number
}

/** An ERC-20 token that gas can be paid with. */
export type TokenDefinition = {
  readonly address: Address
  readonly symbol: string
  readonly name: string
  readonly decimals: number
  readonly logoUrl: string | undefined
  /** Millionths of the cost that are charged: 1,000,000 = the cost itself. */
  readonly markup: number
  readonly sources: readonly PriceSourceDefinition[]
  /** Number of sources that must answer. */
  readonly minimumSources: number
  /** Millionths by which the highest may exceed the lowest. */
  readonly maxDeviation: number
  /** Smallest token units that tanks may hold or be promised; undefined = no limit. */
  readonly maxExposure: bigint | undefined
  /** The address that receives charges; undefined = they stay in the tank. */
  readonly treasury: Address | undefined
  /** Gas that a call takes beyond one of a plain token: a proxy, a look at a list. */
  readonly extraCallGas: bigint
}
