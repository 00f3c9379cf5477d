import type { Address, Hex } from 'viem'
import { parseEther, parseGwei } from 'viem/utils'
import { z } from 'zod'
import { engineChoices, ruleModes, waivableRules } from '../../erc4337/validationSettings.js'
import { versions } from '../../erc4337/versionFacts.js'
import { tankFactoryAddress } from '../contracts/deployments.js'
import type { KeySource } from '../signing/openSigner.js'
import type { DeepReadonly } from '../../base/deepReadonly.js'
import {
  address,
  sequencerSchema,
  toTokenDefinition,
  toUsdDefinition,
  tokenSchema,
  usdPriceSchema,
} from './tokenDefinition.js'

const text = z.string().min(1)
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })

/** A private key, or the name of the environment variable that holds it. */
const privateKey = z
  .string()
  .regex(
    /^(0x[0-9a-fA-F]{64}|env:\w+)$/,
    'must be a private key (0x and 64 hex digits) or env:NAME',
  )

/** A header that a proxy before a signer asks for: it is a secret. */
const authorization = z
  .string()
  .regex(/^env:\w+$/, 'must be env:NAME')
  .optional()
/** Saves the question for it at the start, where the service answers it. */
const keyAddress = address.optional()

/** A key in a service, by the service; docs/operate/keys.md shows each. */
const serviceKeySchema = z.union([
  z.strictObject({
    kms: z.strictObject({
      keyId: text,
      region: text,
      endpoint: z.url().optional(),
      address: keyAddress,
    }),
  }),
  z.strictObject({
    gcp: z.strictObject({
      keyVersion: z
        .string()
        .regex(/^projects\/\S+\/cryptoKeyVersions\/\d+$/, 'must be projects/…/cryptoKeyVersions/N'),
      endpoint: httpUrl.optional(),
      address: keyAddress,
    }),
  }),
  z.strictObject({
    azure: z.strictObject({
      keyId: httpUrl.regex(/\/keys\/[^/?]+\/[^/?]+$/, 'must end with /keys/NAME/VERSION'),
      address: keyAddress,
    }),
  }),
  z.strictObject({
    turnkey: z.strictObject({ organizationId: text, address, endpoint: httpUrl.optional() }),
  }),
  z.strictObject({
    web3signer: z.strictObject({
      url: httpUrl,
      publicKey: z.string().regex(/^0x[0-9a-fA-F]{128}$/, 'must be 0x and 128 hex digits'),
      authorization,
    }),
  }),
  z.strictObject({
    jsonRpc: z.strictObject({
      url: httpUrl,
      address,
      authorization,
      /** Whether it signs transactions with authorizations. */
      eip7702: z.boolean().default(false),
    }),
  }),
])

export type ServiceKeyReference = z.output<typeof serviceKeySchema>

/** Where a key that sends transactions is kept; see docs/operate/configuration.md. */
export const keySchema = z.union([
  privateKey,
  z.strictObject({
    keystore: text,
    password: z.string().regex(/^(env|file):.+$/, 'must be env:NAME or file:PATH'),
  }),
  serviceKeySchema,
  /** One key in several services, the preferred first: regions of a KMS, two instances of a signer. */
  z.strictObject({ anyOf: z.array(serviceKeySchema).min(2).max(5) }),
])

export type KeyReference = z.output<typeof keySchema>

/** Too large for a JSON number. */
const wei = z
  .string()
  .regex(/^\d+$/, 'must be wei in decimal digits, as a string')
  .transform((value) => BigInt(value))

/** An amount of the chain's own coin, `0.05`, as wei. */
const coins = z
  .string()
  .regex(/^\d{1,12}(\.\d{1,18})?$/, 'must be an amount of ether in quotes, such as "0.05"')
  .transform((amount) => parseEther(amount))

/** A price of gas in gwei, `0.5`, as wei. */
const gwei = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,9})?$/, 'must be gwei per gas in quotes, such as "200"')
  .transform((price) => parseGwei(price))

/** The key that refills executors. */
const treasurySchema = z
  .strictObject({
    key: keySchema,
    /** An executor that has less is refilled. */
    refillBelow: coins,
    /** What an executor has after it was refilled. */
    refillTo: coins,
  })
  .refine(({ refillBelow, refillTo }) => refillBelow < refillTo, {
    message: 'must be more than refillBelow',
    path: ['refillTo'],
  })

/** The methods by which relays take a transaction that is not to be seen before it is in a block. */
const privateMethods = ['eth_sendPrivateTransaction', 'eth_sendRawTransaction'] as const

const fallback = {
  /** The key that signs requests to the relay (X-Flashbots-Signature); never one that holds money. */
  authKey: privateKey.optional(),
  /** Blocks after which a bundle without inclusion is sent publicly. */
  publicAfter: z.int().min(1).max(100_000),
}

/**
 * The way in which the bundles of a chain reach those who build its blocks. Other transactions are always public. A
 * relay has no default patience: the operator must state it.
 */
const sendingSchema = z.discriminatedUnion('way', [
  z.strictObject({ way: z.literal('public') }),
  /** A relay that shows bundles to builders only, and has those that revert left out of blocks. */
  z.strictObject({
    way: z.literal('private'),
    url: httpUrl,
    method: z.enum(privateMethods).default('eth_sendPrivateTransaction'),
    ...fallback,
  }),
  /** A sequencer that includes a bundle only while the storage that its validations read is unchanged. */
  z.strictObject({
    way: z.literal('conditional'),
    /** Absent = the chain's nodes. */
    url: httpUrl.optional(),
    ...fallback,
  }),
])

/**
 * The gas for which a chain takes money of a transaction: what it `used`; at least half of its limit (`halfLimit`,
 * Avalanche since Helicon); its whole `limit` (Monad). The latter two give no gas back for cleared storage.
 */
const chargedGasKinds = ['used', 'halfLimit', 'limit'] as const

export type ChargedGas = (typeof chargedGasKinds)[number]

/**
 * The ways in which a chain charges for the bytes of a transaction on top of its execution:
 * - `none`: not at all, or within the gas of calldata;
 * - `opStack`: the OP stack, in wei from L1's prices, with its operator fee;
 * - `opStackTokenRatio`: the same in a coin of the chain's own, by the ratio of prices (Mantle);
 * - `arbitrum`: as gas of the transaction (Nitro);
 * - `scroll`: in wei from L1's prices, growing with the square of the size.
 */
export const dataFeeKinds = ['none', 'opStack', 'opStackTokenRatio', 'arbitrum', 'scroll'] as const

export type DataFeeKind = (typeof dataFeeKinds)[number]

/** What a chain is by itself, which its preset knows: for chains without one. */
export const factsSchema = z.strictObject({
  /** Symbol of the coin in which gas is paid. */
  nativeCoin: z.string().min(1).max(12).default('ETH'),
  /** wei per gas: the tip below which nodes take no transaction; `linea` = as each header says. Absent = 0. */
  minimumTip: z
    .union([z.literal('linea'), wei], 'must be "linea", or wei in digits, as a string')
    .optional(),
  chargedGas: z.enum(chargedGasKinds).default('used'),
  /** Whether the chain has the floor price of calldata (EIP-7623). */
  calldataFloor: z.boolean().default(true),
  dataFee: z.enum(dataFeeKinds).default('none'),
  /** Whether the pending block of its nodes holds what the sequencer has promised (Flashblocks). */
  preconfirmations: z.boolean().default(false),
  /** Whether the chain may begin anew with another block 0, as a development chain does. */
  restarts: z.boolean().default(false),
  /** Milliseconds between two requests for the head. */
  pollInterval: z.int().min(20).max(60_000).default(1_000),
  /** Milliseconds without inclusion after which a bundle's fees are raised. */
  resubmitAfter: z.int().min(100).default(15_000),
  /** Blocks after which a block counts as final. */
  finalityDepth: z.int().nonnegative().default(64),
  /** Gas of one bundle transaction at most (EIP-7825). */
  maxBundleGas: z.int().positive().default(16_777_216),
  /** Bytes of one bundle transaction at most; no more than LIM-040 of ERC-7562 permits. */
  maxBundleBytes: z.int().positive().max(262_144).default(117_964),
  minimumUnstakeDelay: z.int().nonnegative().default(86_400),
  sequencerFeed: sequencerSchema.optional(),
})

/** An entity that may break rules of ERC-7562 until a time: an alternative mempool. */
export const ruleExceptionSchema = z.strictObject({
  role: z.enum(['account', 'factory', 'paymaster']),
  address,
  rules: z.array(z.enum(waivableRules)).min(1),
  reason: text.max(200),
  until: z.iso.datetime('must be a time in UTC, such as "2027-01-31T00:00:00Z"'),
})

function isDistinct(tokens: readonly { readonly address: string }[]): boolean {
  return new Set(tokens.map(({ address }) => address)).size === tokens.length
}

function isSocket(url: string): boolean {
  return url.startsWith('ws')
}

/** A configured chain. Every chain-dependent choice is a member, never a test of the chain id. Nodes have no default. */
export const chainSchema = z.strictObject({
  chainId: z.int().positive(),
  name: z.string().max(60).optional(),
  /** The block explorer to which the console links. */
  explorerUrl: httpUrl.optional(),
  /** JSON-RPC endpoints of nodes, preferred first, and at most one that announces new heads (ws). */
  rpcUrls: z
    .array(z.url({ protocol: /^(http|ws)s?$/, error: 'must be an http, https, ws or wss URL' }))
    .min(1)
    .refine((urls) => urls.some((url) => !isSocket(url)), 'must have an http or https URL')
    .refine((urls) => urls.filter(isSocket).length < 2, 'must have one ws or wss URL at most'),
  /** Preferred first; absent = every canonical one that is on the chain, see `requireEntryPoints`. */
  entryPoints: z
    .array(z.strictObject({ version: z.enum(versions), address }))
    .min(1)
    .optional(),
  executorKeys: z.array(keySchema).default([]),
  /** wei below which an executor sends nothing new. */
  executorMinBalance: coins.default(0n),
  treasury: treasurySchema.optional(),
  /** The most that executors and treasury bid per gas; absent = whatever the chain asks for. */
  feeCeiling: z
    .strictObject({ maxFeePerGas: gwei.optional(), maxPriorityFeePerGas: gwei.optional() })
    .default({}),
  /** Receives the fees of handleOps; absent = the executor that sends. */
  beneficiary: address.optional(),
  /**
   * Operations that share a bundle's fixed costs in preVerificationGas; `auto` = as many as nearly all bundles recently
   * could have had.
   */
  expectedBundleSize: z
    .union(
      [z.literal('auto'), z.int().min(1).max(100)],
      'must be "auto" or a whole number from 1 to 100',
    )
    .default('auto'),
  /** Milliseconds that an operation waits for others to share a bundle with. */
  maxBundleWait: z.int().nonnegative().default(10_000),
  sending: sendingSchema.default({ way: 'public' }),
  facts: factsSchema.prefault({}),
  /** Whether clients may read the node through the service: those who know one URL only. */
  nodeMethods: z.boolean().default(true),
  /** Whether eth_estimateGas is among the reads. */
  estimateGas: z.boolean().default(false),
  /** Whether clients may send signed transactions of their own, by eth_sendRawTransaction. */
  sendRawTransaction: z.boolean().default(false),
  /** Pending operations at most: of one sender, in all. */
  maxOperationsPerSender: z.int().positive().default(16),
  maxOperations: z.int().positive().default(100_000),
  /** Seconds for which an operation waits for a bundle at most. */
  maxPoolAge: z.int().min(60).max(31_536_000).default(86_400),
  rules: z.enum(ruleModes).default('full'),
  ruleExceptions: z.array(ruleExceptionSchema).max(50).default([]),
  validationEngine: z.enum(engineChoices).default('auto'),
  minimumStake: wei.default(10n ** 18n),
  /** Tokens besides the native coin with which gas can be paid. */
  tokens: z.array(tokenSchema).max(50).refine(isDistinct, 'must name a token once').default([]),
  /** USD for one coin, by sources as tokens have; absent = `nativePrices`, or none. */
  usdPrice: usdPriceSchema.optional(),
})

export type ChainInput = z.input<typeof chainSchema>

/** The same on every chain. */
const constants = {
  /** Address of our TankFactory, also before the first tank is made. */
  tankFactory: tankFactoryAddress.address as Address,
  /** Blocks that one eth_getLogs may span; where a node takes less, it is asked in smaller ranges. */
  logRange: 2_000,
  /** Seconds for which a sender whose payment failed must pay in advance. */
  paymentDefaultSeconds: 86_400,
  /** Bundles that one executor may have in flight. */
  maxBundlesPerExecutor: 4,
  /** Gas that verification may ask for. */
  maxVerificationGas: 5_000_000n,
  /** Pending operations of one app at most. */
  maxOperationsPerApp: 20_000,
  /** Whether the code of a contract may be replaced, as developers do on a node of their own. */
  replacesCode: false as boolean,
}

type ResolveKey = (reference: KeyReference) => KeySource

/** @param resolveKey looks up what a reference to a key names. */
export function toChainDefinition(
  { facts, ...chain }: z.output<typeof chainSchema>,
  resolveKey: ResolveKey,
) {
  return {
    ...constants,
    ...facts,
    ...chain,
    sending: toSending(chain.sending, resolveKey),
    rpcUrls: chain.rpcUrls.filter((url) => !isSocket(url)),
    headsUrl: chain.rpcUrls.find(isSocket),
    name: chain.name ?? `chain ${chain.chainId}`,
    entryPoints: chain.entryPoints ?? [],
    beneficiary: chain.beneficiary,
    /** Empty in a process that does not bundle. */
    executorKeys: chain.executorKeys.map(resolveKey),
    treasury: chain.treasury && { ...chain.treasury, key: resolveKey(chain.treasury.key) },
    maxBundleGas: BigInt(facts.maxBundleGas),
    tokens: chain.tokens.map(toTokenDefinition),
    usdPrice: chain.usdPrice && toUsdDefinition(chain.usdPrice),
    ruleExceptions: chain.ruleExceptions.map(({ until, ...exception }) => ({
      ...exception,
      until: Math.floor(Date.parse(until) / 1_000),
    })),
  }
}

function toSending(sending: z.output<typeof sendingSchema>, resolveKey: ResolveKey) {
  if (sending.way === 'public') return sending
  // A key that is given as text is text.
  const { authKey, ...others } = sending
  return { ...others, ...(authKey !== undefined && { authKey: resolveKey(authKey) as Hex }) }
}

/** One chain as data. */
export type ChainDefinition = DeepReadonly<ReturnType<typeof toChainDefinition>>
export type Treasury = NonNullable<ChainDefinition['treasury']>
export type SendingDefinition = ChainDefinition['sending']
export type PrivateSending = Extract<SendingDefinition, { way: 'private' }>
export type ConditionalSending = Extract<SendingDefinition, { way: 'conditional' }>
