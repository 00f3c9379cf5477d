import type { ChargedGas } from '../chain/definition/chargedGas.js'
import type { DataFeeKind } from '../chain/definition/dataFee.js'

/** What is known of a public chain, for operators who only name it. */
export type ChainPreset = {
  readonly chainId: number
  readonly name: string
  /** Absent = ETH. */
  readonly nativeCoin?: string
  /** wei per gas that nodes ask for, or `linea`. */
  readonly minimumTip?: string
  readonly maxBundleGas?: number
  /** Absent = the gas used. */
  readonly chargedGas?: ChargedGas
  /** Absent where the chain has the floor price of calldata (EIP-7623), or where that is not known. */
  readonly calldataFloor?: false
  /** Absent where the chain takes nothing for data beside its gas. */
  readonly dataFee?: DataFeeKind
  readonly pollInterval: number
  readonly finalityDepth: number
  readonly resubmitAfter: number
  readonly maxBundleBytes?: number
  readonly preconfirmations?: true
}

/** Blocks of two seconds; a block counts as final once L1 has finalised it, some 15 minutes later. */
const twoSeconds = { pollInterval: 1_000, finalityDepth: 450, resubmitAfter: 8_000 } as const
const oneSecond = { pollInterval: 500, finalityDepth: 900, resubmitAfter: 5_000 } as const
const quarterSecond = { pollInterval: 500, finalityDepth: 3_600, resubmitAfter: 5_000 } as const

/** Nodes that read the sequencer's Flashblocks serve them as the pending block. */
const flashblocks = { preconfirmations: true } as const

/** Nodes of the OP stack and of Arbitrum take smaller transactions than Ethereum's. */
const opStack = { dataFee: 'opStack', maxBundleBytes: 90_000 } as const
const arbitrum = { dataFee: 'arbitrum', maxBundleBytes: 90_000, ...quarterSecond } as const

/** EIP-7623 is in the rules of Prague, but not everywhere: these chains charge 4/16 gas a byte whatever is executed. */
const noFloor = { calldataFloor: false } as const

/**
 * Public chains by name. All that a chain can tell itself is compared at start: its id, its EntryPoints, its way of
 * charging for data, the gas of its blocks, Linea's tips. Any key of a configured chain wins over its preset's.
 */
export const chainPresets = {
  ethereum: {
    chainId: 1,
    name: 'Ethereum',
    pollInterval: 2_000,
    finalityDepth: 64,
    resubmitAfter: 30_000,
  },
  optimism: { chainId: 10, name: 'OP Mainnet', minimumTip: '100000', ...opStack, ...twoSeconds },
  base: { chainId: 8_453, name: 'Base', ...opStack, ...twoSeconds, ...flashblocks },
  unichain: { chainId: 130, name: 'Unichain', ...opStack, ...oneSecond, ...flashblocks },
  worldchain: { chainId: 480, name: 'World Chain', ...opStack, ...twoSeconds },
  ink: { chainId: 57_073, name: 'Ink', ...opStack, ...oneSecond },
  soneium: { chainId: 1_868, name: 'Soneium', ...opStack, ...twoSeconds },
  zora: { chainId: 7_777_777, name: 'Zora', ...opStack, ...twoSeconds },
  mode: { chainId: 34_443, name: 'Mode', ...opStack, ...twoSeconds },
  lisk: { chainId: 1_135, name: 'Lisk', ...opStack, ...twoSeconds },
  celo: { chainId: 42_220, name: 'Celo', nativeCoin: 'CELO', ...opStack, ...oneSecond },
  opbnb: { chainId: 204, name: 'opBNB', nativeCoin: 'BNB', ...opStack, ...quarterSecond },
  mantle: {
    chainId: 5_000,
    name: 'Mantle',
    nativeCoin: 'MNT',
    dataFee: 'opStackTokenRatio',
    maxBundleBytes: 90_000,
    ...twoSeconds,
  },
  arbitrum: { chainId: 42_161, name: 'Arbitrum One', ...arbitrum, ...noFloor },
  'arbitrum-nova': { chainId: 42_170, name: 'Arbitrum Nova', ...arbitrum, ...noFloor },
  apechain: { chainId: 33_139, name: 'ApeChain', nativeCoin: 'APE', ...arbitrum },
  // The fee grows with the square of the size: small bundles cost less for each operation.
  scroll: {
    chainId: 534_352,
    name: 'Scroll',
    dataFee: 'scroll',
    maxBundleBytes: 4_096,
    ...twoSeconds,
  },
  linea: { chainId: 59_144, name: 'Linea', minimumTip: 'linea', ...twoSeconds },
  taiko: { chainId: 167_000, name: 'Taiko', ...twoSeconds },
  polygon: {
    chainId: 137,
    name: 'Polygon PoS',
    nativeCoin: 'POL',
    minimumTip: '25000000000',
    pollInterval: 1_000,
    finalityDepth: 256,
    resubmitAfter: 8_000,
  },
  bnb: {
    chainId: 56,
    name: 'BNB Chain',
    nativeCoin: 'BNB',
    minimumTip: '50000000',
    pollInterval: 500,
    finalityDepth: 64,
    resubmitAfter: 5_000,
  },
  gnosis: {
    chainId: 100,
    name: 'Gnosis',
    nativeCoin: 'xDAI',
    pollInterval: 2_000,
    finalityDepth: 64,
    resubmitAfter: 15_000,
  },
  berachain: {
    chainId: 80_094,
    name: 'Berachain',
    nativeCoin: 'BERA',
    pollInterval: 1_000,
    finalityDepth: 64,
    resubmitAfter: 8_000,
  },
  sonic: {
    chainId: 146,
    name: 'Sonic',
    nativeCoin: 'S',
    pollInterval: 500,
    finalityDepth: 64,
    resubmitAfter: 5_000,
  },
  avalanche: {
    chainId: 43_114,
    name: 'Avalanche C-Chain',
    nativeCoin: 'AVAX',
    chargedGas: 'halfLimit',
    pollInterval: 500,
    finalityDepth: 64,
    resubmitAfter: 5_000,
  },
  // A block each second holds 2 M gas; those of 30 M come once a minute, for accounts that ask for them.
  hyperevm: {
    chainId: 999,
    name: 'HyperEVM',
    nativeCoin: 'HYPE',
    maxBundleGas: 2_000_000,
    pollInterval: 500,
    finalityDepth: 64,
    resubmitAfter: 5_000,
    ...noFloor,
  },
} as const satisfies Readonly<Record<string, ChainPreset>>

export type PresetName = keyof typeof chainPresets

export const presetNames = Object.keys(chainPresets) as [PresetName, ...PresetName[]]

/** The configured chain with what its preset adds; anything that names no preset as it is. */
export function withPreset(chain: unknown): unknown {
  if (typeof chain !== 'object' || chain === null || !('preset' in chain)) return chain
  const preset = presetNames.find((name) => name === chain.preset)
  return preset === undefined ? chain : { ...chainPresets[preset], ...chain }
}
