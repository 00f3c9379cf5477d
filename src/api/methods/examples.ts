import type { Address, Hex } from 'viem'
import type { OperationReceipt } from '../../bundler/operationViews.js'
import type { Log } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import type { FeeQuotes, TokenRate } from '../../paymaster/tokenPayment.js'
import type { VersionedSponsorship } from '../dialects/paymasterData.js'

/*
 * One operation for the examples of all methods: it sends nothing to 0x…a11ce, on EntryPoint v0.7 of
 * chain 10.
 */

export const EXAMPLE_CHAIN_ID = 10

export const EXAMPLE_ENTRY_POINT: Address = '0x0000000071727de22e5e9d8baf0edac6f37da032'

/** The operation as clients send it, and as it is answered. */
export const exampleOperationJson = {
  sender: '0x9d7d81b4eecdf15ceb00ba42284ea36f8be68b90',
  nonce: '0x5',
  callData: '0xb61d27f600000000000000000000000000000000000000000000000000000000000a11ce',
  callGasLimit: '0x8ca0',
  verificationGasLimit: '0xea60',
  preVerificationGas: '0xbb80',
  maxFeePerGas: '0x59682f00',
  maxPriorityFeePerGas: '0xf4240',
  signature: `0x${'5a'.repeat(64)}1b`,
} as const

export const exampleOperation: Operation = {
  sender: exampleOperationJson.sender,
  nonce: 5n,
  factory: undefined,
  factoryData: '0x',
  callData: exampleOperationJson.callData,
  callGasLimit: 36_000n,
  verificationGasLimit: 60_000n,
  preVerificationGas: 48_000n,
  maxFeePerGas: 1_500_000_000n,
  maxPriorityFeePerGas: 1_000_000n,
  paymaster: undefined,
  paymasterVerificationGasLimit: 0n,
  paymasterPostOpGasLimit: 0n,
  paymasterData: '0x',
  signature: exampleOperationJson.signature,
  authorization: undefined,
}

/** The userOpHash of the operation. */
export const EXAMPLE_HASH: Hex =
  '0x86a6c69d0e3469a39406ccca05d9f8756ebc5cd3321f9425d66117bd0070571d'

export const EXAMPLE_TANK: Address = '0x7a11c0de00000000000000000000000000000007'

/** The operation as a tank sponsors it. */
export const exampleSponsored: Operation = {
  ...exampleOperation,
  paymaster: EXAMPLE_TANK,
  paymasterVerificationGasLimit: 30_000n,
  paymasterPostOpGasLimit: 1n,
  paymasterData: `0x${'c4'.repeat(77)}`,
}

const exampleDecision = {
  decisionId: '7b0f3c1e-5d2a-4c6e-9a51-0e8f4d2c7a10',
  sponsored: true,
  code: 'SPONSORED',
  message: 'Sponsored up to 0.000261 ETH.',
} as const

/** The parameters of ERC-7677. */
export const examplePaymasterParams = [
  exampleOperationJson,
  EXAMPLE_ENTRY_POINT,
  '0xa',
  { mode: 'SPONSORED' },
] as const

/** A transaction that sends nothing to the same address, signed by a key of tests. */
export const EXAMPLE_SIGNED: Hex =
  '0x02f8660a800184773594008252089400000000000000000000000000000000000a11ce8080c001a00b8403ef6e38d7c0ef2e2c1b5cb5aec02bf1fd0197d4fcf34190a7d7ccaac5fca04f67c60144c6752d87681d0f2f03cb85fa94915cfa442fa562d92a1098d0f12a'

export const exampleTransaction: Hex = `0x${'7e'.repeat(32)}`
export const exampleBlock: Hex = `0x${'b1'.repeat(32)}`

const EXECUTOR = '0xe0ec00000000000000000000000000000000e0ec'
const NO_PAYMASTER = '0x0000000000000000000000000000000000000000'
const NO_BLOOM: Hex = `0x${'00'.repeat(256)}`

const event: Log = {
  address: EXAMPLE_ENTRY_POINT,
  topics: [
    '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f',
    EXAMPLE_HASH,
    `0x${'00'.repeat(12)}${exampleOperation.sender.slice(2)}`,
    `0x${'00'.repeat(32)}`,
  ],
  data: '0x',
  blockNumber: 117n,
  blockHash: exampleBlock,
  transactionHash: exampleTransaction,
  transactionIndex: 3,
  logIndex: 8,
}

/** The receipt of the example's operation, included alone and paid by its account. */
export const exampleReceipt: OperationReceipt = {
  userOpHash: EXAMPLE_HASH,
  sender: exampleOperation.sender,
  nonce: 5n,
  paymaster: NO_PAYMASTER,
  success: true,
  actualGasCost: 91_000_000_000_000n,
  actualGasUsed: 91_000n,
  reason: '0x',
  event,
  logs: [event],
  entryPoint: EXAMPLE_ENTRY_POINT,
  confirmations: 3,
  receipt: {
    transactionHash: exampleTransaction,
    transactionIndex: 3,
    blockHash: exampleBlock,
    blockNumber: 117n,
    from: EXECUTOR,
    to: EXAMPLE_ENTRY_POINT,
    contractAddress: null,
    cumulativeGasUsed: 410_000n,
    gasUsed: 112_000n,
    effectiveGasPrice: 1_000_000_000n,
    logs: [event],
    logsBloom: NO_BLOOM,
    status: 1,
    type: 2,
  },
}

const { paymasterData } = exampleSponsored

/** The example's operation, sponsored by a tank. */
export const exampleSponsorship: VersionedSponsorship = {
  mode: 'SPONSORED',
  version: '0.7',
  separateSignature: false,
  decision: exampleDecision,
  operation: exampleSponsored,
  paymasterAndData: `${EXAMPLE_TANK}${'0'.repeat(28)}7530${'0'.repeat(32)}${paymasterData.slice(2)}`,
}

/** The token of the examples, which costs its payer 5 percent more than the gas. */
export const exampleToken: TokenRate['token'] = {
  address: '0x0b2c639c533813f4aa9d7837caf62653d097ff85',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  logoUrl: undefined,
  markup: 1_050_000,
  sources: [],
  minimumSources: 1,
  maxDeviation: 0,
  maxExposure: undefined,
  treasury: undefined,
  extraCallGas: 0n,
}

export const exampleRate: TokenRate = {
  token: exampleToken,
  paymaster: EXAMPLE_TANK,
  markedUpRate: 3_150_000_000n,
  extraGas: 42_000n,
}

export const exampleQuotes: FeeQuotes = {
  paymaster: EXAMPLE_TANK,
  quotes: [
    { token: exampleToken, maxCharge: 820_000n, rate: 3_000_000_000n, validUntil: 1_800_000_000 },
  ],
  unsupported: [],
  nativePrice: 3_000_000_000n,
}
