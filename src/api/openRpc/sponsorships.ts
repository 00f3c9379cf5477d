import { z } from 'zod'
import {
  address,
  bytes,
  classicNumber,
  classicPayer,
  decimal,
  hexFees,
  hexLimits,
  hexPayer,
} from './parts.js'

const decision = z.object({
  sponsored: z.boolean(),
  code: z.string(),
  message: z.string(),
  decisionId: z.string(),
})

const payment = z.object({
  tokenAddress: address,
  symbol: z.string(),
  decimal: z.int(),
  /** Smallest units of the token. */
  maxCharge: decimal,
  rate: decimal,
  markup: z.int(),
  validUntil: z.int(),
  decisionId: z.string(),
})

const mode = z.enum(['SPONSORED', 'ERC20'])
const answer = {
  mode,
  MODE: mode,
  sponsorship: decision.optional(),
  tokenPayment: payment.optional(),
  paymasterAndData: bytes,
}

export const classicSponsorship = z
  .object({
    ...answer,
    ...classicPayer,
    preVerificationGas: decimal,
    verificationGasLimit: classicNumber,
    callGasLimit: classicNumber,
    maxFeePerGas: z.union([decimal, z.literal('0x0')]).optional(),
    maxPriorityFeePerGas: z.union([decimal, z.literal('0x0')]).optional(),
  })
  .meta({ id: 'ClassicSponsorship' })

export const standardSponsorship = z
  .object({
    ...hexPayer,
    ...answer,
    ...hexLimits,
    maxFeePerGas: hexFees.maxFeePerGas.optional(),
    maxPriorityFeePerGas: hexFees.maxPriorityFeePerGas.optional(),
  })
  .meta({ id: 'Sponsorship' })

export const quotes = z
  .object({
    mode: z.literal('ERC20'),
    MODE: z.literal('ERC20'),
    paymasterAddress: address,
    feeQuotes: z.array(
      z.object({
        symbol: z.string(),
        name: z.string(),
        decimal: z.int(),
        tokenAddress: address,
        /** Whole tokens. */
        maxGasFee: z.number(),
        maxGasFeeUSD: z.number().optional(),
        exchangeRate: z.union([z.int(), decimal]),
        premiumPercentage: z.string(),
        validUntil: z.int(),
        logoUrl: z.string(),
      }),
    ),
    unsupportedTokens: z.array(address),
  })
  .meta({ id: 'Quotes' })

export const stub = z.object({
  ...hexPayer,
  maxFeePerGas: hexFees.maxFeePerGas.optional(),
  maxPriorityFeePerGas: hexFees.maxPriorityFeePerGas.optional(),
  sponsor: z.object({ name: z.string(), icon: z.string().optional() }).optional(),
  isFinal: z.boolean(),
})

export const paymasterData = z
  .object({
    ...hexPayer,
    ...hexLimits,
    maxFeePerGas: hexFees.maxFeePerGas.optional(),
    maxPriorityFeePerGas: hexFees.maxPriorityFeePerGas.optional(),
  })
  .meta({ id: 'PaymasterData' })

export const paymasterAndFees = z
  .object({ ...hexPayer, ...hexLimits, ...hexFees })
  .meta({ id: 'PaymasterDataAndFees' })

export const preview = z.object({
  sponsored: z.boolean(),
  code: z.string(),
  message: z.string(),
  policyId: z.string().nullable(),
  policies: z.array(
    z.object({
      policyId: z.string(),
      name: z.string(),
      scope: z.enum(['app', 'account']),
      pays: z.boolean(),
      code: z.string(),
      message: z.string(),
    }),
  ),
})

/** The form of Pimlico. */
export const willingPolicies = z.array(
  z.object({
    sponsorshipPolicyId: z.string(),
    data: z.object({
      name: z.string(),
      author: z.null(),
      icon: z.null(),
      description: z.null(),
    }),
  }),
)
