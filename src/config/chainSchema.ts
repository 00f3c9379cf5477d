import type { Address, Hex } from 'viem'
import { z } from 'zod'
import type { ChainDefinition } from '../chain/definition.js'
import { TANK_FACTORY } from '../contracts/deployments.js'

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address (0x and 40 hex digits)')
  .transform((value) => value.toLowerCase() as Address)

const privateKey = z
  .string()
  .regex(
    /^(0x[0-9a-fA-F]{64}|env:\w+)$/,
    'must be a private key (0x and 64 hex digits) or env:NAME',
  )

const ENTRY_POINT_06 = '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789'

/** One entry of `chains` in the configuration. Limits have defaults; nodes and executors do not. */
export const chainSchema = z.strictObject({
  chainId: z.int().positive(),
  name: z.string().max(60).optional(),
  rpcUrls: z.array(z.url({ protocol: /^https?$/ })).min(1),
  entryPoints: z
    .array(z.strictObject({ version: z.enum(['0.6', '0.7', '0.8', '0.9']), address }))
    .min(1)
    .default([{ version: '0.6', address: ENTRY_POINT_06 }]),
  tankFactory: address.default(TANK_FACTORY.address),
  executorKeys: z.array(privateKey).min(1),
  beneficiary: address.optional(),
  pollInterval: z.int().min(20).max(60_000).default(1_000),
  maxBundleGas: z.int().positive().default(16_777_216),
  maxBundleBytes: z.int().positive().default(117_964),
  maxVerificationGas: z.int().positive().default(5_000_000),
  resubmitAfter: z.int().min(100).default(15_000),
  finalityDepth: z.int().nonnegative().default(64),
  logRange: z.int().positive().default(2_000),
  maxOperationsPerSender: z.int().positive().default(16),
  maxOperations: z.int().positive().default(100_000),
})

export type ChainInput = z.input<typeof chainSchema>

/** @param resolveKey turns `env:NAME` into the key that the environment holds. */
export const toChainDefinition = (
  chain: z.output<typeof chainSchema>,
  resolveKey: (reference: string) => Hex,
): ChainDefinition => ({
  ...chain,
  name: chain.name ?? `chain ${chain.chainId}`,
  beneficiary: chain.beneficiary,
  executorKeys: chain.executorKeys.map(resolveKey),
  maxBundleGas: BigInt(chain.maxBundleGas),
  maxVerificationGas: BigInt(chain.maxVerificationGas),
})
