import { z } from 'zod'
import { chainSchema, type factsSchema } from '../chain/definition/chainDefinition.js'

/** What is known of a public chain, for operators who only name it. */
export type ChainPreset = {
  readonly chainId: number
  readonly name: string
  readonly explorerUrl: string
  /** Absent where they are Ethereum's; `calldataFloor` also where it is not known. */
  readonly facts: z.input<typeof factsSchema>
}

/** Blocks of two seconds; a block counts as final once L1 has finalised it, some 15 minutes later. */
const twoSeconds = { pollInterval: 1_000, finalityDepth: 450, resubmitAfter: 8_000 } as const
const oneSecond = { pollInterval: 500, finalityDepth: 900, resubmitAfter: 5_000 } as const
const quarterSecond = { pollInterval: 500, finalityDepth: 3_600, resubmitAfter: 5_000 } as const

/** Nodes that read the sequencer's Flashblocks serve them as the pending block. */
const flashblocks = { preconfirmations: true } as const

/** Nodes of the OP stack and of Arbitrum take smaller transactions than Ethereum's. */
const opStack = { dataFee: 'opStack', maxBundleBytes: 90_000 } as const
const arbitrum = { dataFee: 'arbitrum', maxBundleBytes: 90_000 } as const

/** EIP-7623 is in the rules of Prague, but not everywhere: these chains charge 4/16 gas a byte whatever is executed. */
const noFloor = { calldataFloor: false } as const

/**
 * Public chains by name. All that a chain can tell itself is compared at start: its id, its EntryPoints, its way of
 * charging for data, the gas of its blocks, Linea's tips. Any key of a configured chain, and any of its facts, wins over its preset's.
 */
export const chainPresets = {
  ethereum: {
    chainId: 1,
    name: 'Ethereum',
    explorerUrl: 'https://etherscan.io',
    facts: { pollInterval: 2_000, finalityDepth: 64, resubmitAfter: 30_000 },
  },
  optimism: {
    chainId: 10,
    name: 'OP Mainnet',
    explorerUrl: 'https://optimistic.etherscan.io',
    facts: { ...twoSeconds, ...opStack, minimumTip: '100000' },
  },
  base: {
    chainId: 8_453,
    name: 'Base',
    explorerUrl: 'https://basescan.org',
    facts: { ...twoSeconds, ...opStack, ...flashblocks },
  },
  unichain: {
    chainId: 130,
    name: 'Unichain',
    explorerUrl: 'https://uniscan.xyz',
    facts: { ...oneSecond, ...opStack, ...flashblocks },
  },
  worldchain: {
    chainId: 480,
    name: 'World Chain',
    explorerUrl: 'https://worldscan.org',
    facts: { ...twoSeconds, ...opStack },
  },
  ink: {
    chainId: 57_073,
    name: 'Ink',
    explorerUrl: 'https://explorer.inkonchain.com',
    facts: { ...oneSecond, ...opStack },
  },
  soneium: {
    chainId: 1_868,
    name: 'Soneium',
    explorerUrl: 'https://soneium.blockscout.com',
    facts: { ...twoSeconds, ...opStack },
  },
  zora: {
    chainId: 7_777_777,
    name: 'Zora',
    explorerUrl: 'https://explorer.zora.energy',
    facts: { ...twoSeconds, ...opStack },
  },
  mode: {
    chainId: 34_443,
    name: 'Mode',
    explorerUrl: 'https://modescan.io',
    facts: { ...twoSeconds, ...opStack },
  },
  lisk: {
    chainId: 1_135,
    name: 'Lisk',
    explorerUrl: 'https://blockscout.lisk.com',
    facts: { ...twoSeconds, ...opStack },
  },
  celo: {
    chainId: 42_220,
    name: 'Celo',
    explorerUrl: 'https://celoscan.io',
    facts: { ...oneSecond, ...opStack, nativeCoin: 'CELO' },
  },
  opbnb: {
    chainId: 204,
    name: 'opBNB',
    explorerUrl: 'https://opbnb.bscscan.com',
    facts: { ...quarterSecond, ...opStack, nativeCoin: 'BNB' },
  },
  mantle: {
    chainId: 5_000,
    name: 'Mantle',
    explorerUrl: 'https://mantlescan.xyz',
    facts: { ...twoSeconds, ...opStack, nativeCoin: 'MNT', dataFee: 'opStackTokenRatio' },
  },
  arbitrum: {
    chainId: 42_161,
    name: 'Arbitrum One',
    explorerUrl: 'https://arbiscan.io',
    facts: { ...quarterSecond, ...arbitrum, ...noFloor },
  },
  'arbitrum-nova': {
    chainId: 42_170,
    name: 'Arbitrum Nova',
    explorerUrl: 'https://nova.arbiscan.io',
    facts: { ...quarterSecond, ...arbitrum, ...noFloor },
  },
  apechain: {
    chainId: 33_139,
    name: 'ApeChain',
    explorerUrl: 'https://apescan.io',
    facts: { ...quarterSecond, ...arbitrum, nativeCoin: 'APE' },
  },
  // The fee grows with the square of the size: small bundles cost less for each operation.
  scroll: {
    chainId: 534_352,
    name: 'Scroll',
    explorerUrl: 'https://scrollscan.com',
    facts: { ...twoSeconds, dataFee: 'scroll', maxBundleBytes: 4_096 },
  },
  linea: {
    chainId: 59_144,
    name: 'Linea',
    explorerUrl: 'https://lineascan.build',
    facts: { ...twoSeconds, minimumTip: 'linea' },
  },
  taiko: {
    chainId: 167_000,
    name: 'Taiko',
    explorerUrl: 'https://taikoscan.io',
    facts: twoSeconds,
  },
  polygon: {
    chainId: 137,
    name: 'Polygon PoS',
    explorerUrl: 'https://polygonscan.com',
    facts: {
      nativeCoin: 'POL',
      minimumTip: '25000000000',
      pollInterval: 1_000,
      finalityDepth: 256,
      resubmitAfter: 8_000,
    },
  },
  bnb: {
    chainId: 56,
    name: 'BNB Chain',
    explorerUrl: 'https://bscscan.com',
    facts: {
      nativeCoin: 'BNB',
      minimumTip: '50000000',
      pollInterval: 500,
      finalityDepth: 64,
      resubmitAfter: 5_000,
    },
  },
  gnosis: {
    chainId: 100,
    name: 'Gnosis',
    explorerUrl: 'https://gnosisscan.io',
    facts: { nativeCoin: 'xDAI', pollInterval: 2_000, finalityDepth: 64, resubmitAfter: 15_000 },
  },
  berachain: {
    chainId: 80_094,
    name: 'Berachain',
    explorerUrl: 'https://berascan.com',
    facts: { nativeCoin: 'BERA', pollInterval: 1_000, finalityDepth: 64, resubmitAfter: 8_000 },
  },
  sonic: {
    chainId: 146,
    name: 'Sonic',
    explorerUrl: 'https://sonicscan.org',
    facts: { nativeCoin: 'S', pollInterval: 500, finalityDepth: 64, resubmitAfter: 5_000 },
  },
  avalanche: {
    chainId: 43_114,
    name: 'Avalanche C-Chain',
    explorerUrl: 'https://snowtrace.io',
    facts: {
      nativeCoin: 'AVAX',
      chargedGas: 'halfLimit',
      pollInterval: 500,
      finalityDepth: 64,
      resubmitAfter: 5_000,
    },
  },
  // A block each second holds 2 M gas; those of 30 M come once a minute, for accounts that ask for them.
  hyperevm: {
    chainId: 999,
    name: 'HyperEVM',
    explorerUrl: 'https://hyperevmscan.io',
    facts: {
      nativeCoin: 'HYPE',
      ...noFloor,
      maxBundleGas: 2_000_000,
      pollInterval: 500,
      finalityDepth: 64,
      resubmitAfter: 5_000,
    },
  },
} as const satisfies Readonly<Record<string, ChainPreset>>

type PresetName = keyof typeof chainPresets

export const presetNames = Object.keys(chainPresets) as [PresetName, ...PresetName[]]

/** The configured chain with what its preset adds; anything that names no preset as it is. */
function withPreset(chain: unknown): unknown {
  if (!isRecord(chain)) return chain
  const name = presetNames.find((each) => each === chain.preset)
  if (name === undefined) return chain
  const preset: ChainPreset = chainPresets[name]
  const facts = chain.facts ?? {}
  return { ...preset, ...chain, facts: isRecord(facts) ? { ...preset.facts, ...facts } : facts }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** One entry of `chains` in the configuration, which may begin with a preset. */
export const chainEntry = z.preprocess(
  withPreset,
  chainSchema
    .extend({ preset: z.enum(presetNames).optional() })
    .refine(
      ({ preset, chainId }) => preset === undefined || chainPresets[preset].chainId === chainId,
      { message: 'is not that of the preset: leave it out, or the preset', path: ['chainId'] },
    ),
)
