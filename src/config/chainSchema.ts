import { parseEther } from 'viem/utils'
import { z } from 'zod'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import { chargedGasKinds } from '../chain/definition/chargedGas.js'
import { dataFeeKinds } from '../chain/definition/dataFee.js'
import {
  engineChoices,
  limitProfileNames,
  ruleModes,
} from '../chain/definition/validationSettings.js'
import { tankFactoryAddress } from '../contracts/deployments.js'
import { versions } from '../entrypoint/versionFacts.js'
import type { KeySource } from '../signing/openSigner.js'
import { transactionTypes } from '../signing/transactionType.js'
import { address } from './address.js'
import { chainPresets, presetNames, withPreset } from './chainPresets.js'
import { privateKey } from './privateKey.js'
import { sendingSchema, toSending } from './sendingSchema.js'
import { sequencerSchema, tokenSchema, toTokenDefinition } from './tokenSchema.js'

/** Too large for a JSON number. */
const wei = z
  .string()
  .regex(/^\d+$/, 'must be wei in decimal digits, as a string')
  .transform((value) => BigInt(value))

const text = z.string().min(1)

/** Where a key that sends transactions is kept; see docs/configuration.md. */
const keySchema = z.union([
  privateKey,
  z.strictObject({
    keystore: text,
    password: z.string().regex(/^(env|file):.+$/, 'must be env:NAME or file:PATH'),
  }),
  z.strictObject({
    kms: z.strictObject({ keyId: text, region: text, endpoint: z.url().optional() }),
  }),
])

export type KeyReference = z.output<typeof keySchema>

/** An amount of the chain's own coin, `0.05`, as wei. */
const coins = z
  .string()
  .regex(/^\d{1,12}(\.\d{1,18})?$/, 'must be an amount of ether in quotes, such as "0.05"')
  .transform((amount) => parseEther(amount))

const treasurySchema = z
  .strictObject({ key: keySchema, refillBelow: coins, refillTo: coins })
  .refine(({ refillBelow, refillTo }) => refillBelow < refillTo, {
    message: 'must be more than refillBelow',
    path: ['refillTo'],
  })

function isDistinct(tokens: readonly { readonly address: string }[]): boolean {
  return new Set(tokens.map(({ address }) => address)).size === tokens.length
}

/** A configured chain. Limits have defaults; nodes do not. */
export const chainSchema = z.strictObject({
  preset: z.enum(presetNames).optional(),
  chainId: z.int().positive(),
  name: z.string().max(60).optional(),
  rpcUrls: z.array(z.url({ protocol: /^https?$/ })).min(1),
  headsUrl: z.url({ protocol: /^wss?$/ }).optional(),
  entryPoints: z
    .array(z.strictObject({ version: z.enum(versions), address }))
    .min(1)
    .optional(),
  tankFactory: address.default(tankFactoryAddress.address),
  executorKeys: z.array(keySchema).default([]),
  executorMinBalance: coins.default(0n),
  maxBundlesPerExecutor: z.int().min(1).max(16).default(4),
  treasury: treasurySchema.optional(),
  beneficiary: address.optional(),
  pollInterval: z.int().min(20).max(60_000).default(1_000),
  maxBundleGas: z.int().positive().default(16_777_216),
  maxBundleBytes: z.int().positive().default(117_964),
  expectedBundleSize: z
    .union(
      [z.literal('auto'), z.int().min(1).max(100)],
      'must be "auto" or a whole number from 1 to 100',
    )
    .default('auto'),
  maxBundleWait: z.int().nonnegative().default(10_000),
  maxVerificationGas: z.int().positive().default(5_000_000),
  resubmitAfter: z.int().min(100).default(15_000),
  sending: sendingSchema.default({ way: 'public' }),
  finalityDepth: z.int().nonnegative().default(64),
  nativeCoin: z.string().min(1).max(12).default('ETH'),
  transactionType: z.enum(transactionTypes).default('eip1559'),
  minimumTip: z
    .union([z.literal('linea'), wei], 'must be "linea", or wei in digits, as a string')
    .optional(),
  chargedGas: z.enum(chargedGasKinds).default('used'),
  calldataFloor: z.boolean().default(true),
  dataFee: z.enum(dataFeeKinds).default('none'),
  preconfirmations: z.boolean().default(false),
  logRange: z.int().positive().default(2_000),
  nodeMethods: z.boolean().default(true),
  maxOperationsPerSender: z.int().positive().default(16),
  maxOperationsPerApp: z.int().positive().default(20_000),
  maxOperations: z.int().positive().default(100_000),
  maxPoolAge: z.int().min(60).max(31_536_000).default(86_400),
  rules: z.enum(ruleModes).default('full'),
  validationEngine: z.enum(engineChoices).default('auto'),
  comparedShare: z.number().min(0).max(1).default(0.01),
  limitProfile: z.enum(limitProfileNames).default('lenient'),
  minimumStake: wei.default(10n ** 18n),
  minimumUnstakeDelay: z.int().nonnegative().default(86_400),
  tokens: z.array(tokenSchema).max(50).refine(isDistinct, 'must name a token once').default([]),
  sequencerFeed: sequencerSchema.optional(),
  priceMaxAge: z.int().min(0).max(300).default(15),
  strikeSeconds: z.int().min(0).max(31_536_000).default(86_400),
})

/** One entry of `chains` in the configuration, which may begin with a preset. */
export const chainEntry = z.preprocess(
  withPreset,
  chainSchema.refine(
    ({ preset, chainId }) => preset === undefined || chainPresets[preset].chainId === chainId,
    { message: 'is not that of the preset: leave it out, or the preset', path: ['chainId'] },
  ),
)

export type ChainInput = z.input<typeof chainSchema>

/** @param resolveKey looks up what a reference to a key names. */
export function toChainDefinition(
  { preset: _, sending, ...chain }: z.output<typeof chainSchema>,
  resolveKey: (reference: KeyReference) => KeySource,
): ChainDefinition {
  return {
    ...chain,
    sending: toSending(sending, resolveKey),
    name: chain.name ?? `chain ${chain.chainId}`,
    entryPoints: chain.entryPoints ?? [],
    beneficiary: chain.beneficiary,
    executorKeys: chain.executorKeys.map(resolveKey),
    treasury: chain.treasury && { ...chain.treasury, key: resolveKey(chain.treasury.key) },
    maxBundleGas: BigInt(chain.maxBundleGas),
    maxVerificationGas: BigInt(chain.maxVerificationGas),
    tokens: chain.tokens.map(toTokenDefinition),
  }
}
