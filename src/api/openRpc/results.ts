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
  hexQuantity,
  word,
} from './parts.js'

const bigNumberFields = z.object({ _hex: bytes, _isBigNumber: z.literal(true) })

const logMembers = {
  address,
  topics: z.array(word),
  data: bytes,
  blockHash: word,
  transactionHash: word,
}

const classicLog = z
  .object({
    ...logMembers,
    blockNumber: classicNumber,
    transactionIndex: z.int(),
    logIndex: z.int(),
  })
  .meta({ id: 'ClassicLog' })

const standardLog = z
  .object({
    ...logMembers,
    blockNumber: hexQuantity,
    transactionIndex: hexQuantity,
    logIndex: hexQuantity,
    removed: z.literal(false),
  })
  .meta({ id: 'Log' })

const transactionMembers = {
  to: address.nullable(),
  from: address,
  contractAddress: address.nullable(),
  logsBloom: bytes,
  blockHash: word,
  transactionHash: word,
}

/** A transaction's receipt as ethers v5 gives it. */
const classicTransaction = z.object({
  ...transactionMembers,
  transactionIndex: z.int(),
  gasUsed: bigNumberFields,
  cumulativeGasUsed: bigNumberFields,
  effectiveGasPrice: bigNumberFields,
  logs: z.array(classicLog),
  blockNumber: classicNumber,
  confirmations: z.int(),
  status: z.int(),
  type: z.int(),
  byzantium: z.literal(true),
})

const standardTransaction = z.object({
  ...transactionMembers,
  transactionIndex: hexQuantity,
  gasUsed: hexQuantity,
  cumulativeGasUsed: hexQuantity,
  effectiveGasPrice: hexQuantity,
  logs: z.array(standardLog),
  blockNumber: hexQuantity,
  status: hexQuantity,
  type: hexQuantity,
})

const receiptMembers = {
  userOpHash: word,
  entryPoint: address,
  sender: address,
  paymaster: address,
  /** The revert data of a call that failed. */
  reason: bytes.optional(),
  /** Promised by the sequencer, in no block yet. */
  preconfirmed: z.literal(true).optional(),
}

export const classicReceipt = z
  .object({
    ...receiptMembers,
    nonce: classicNumber,
    success: z.enum(['true', 'false']),
    actualGasCost: classicNumber,
    actualGasUsed: classicNumber,
    logs: z.array(classicLog),
    receipt: classicTransaction,
  })
  .meta({ id: 'ClassicReceipt' })

export const standardReceipt = z
  .object({
    ...receiptMembers,
    nonce: hexQuantity,
    success: z.boolean(),
    actualGasCost: hexQuantity,
    actualGasUsed: hexQuantity,
    logs: z.array(standardLog),
    receipt: standardTransaction,
  })
  .meta({ id: 'Receipt' })

const states = z.enum([
  'BUNDLER_MEMPOOL',
  'SUBMITTED',
  'CONFIRMED',
  'FAILED',
  'DROPPED_FROM_BUNDLER_MEMPOOL',
])

export function statusSchema<Receipt extends z.ZodType>(receipt: Receipt) {
  return z.object({
    state: states,
    message: z.string().optional(),
    transactionHash: word.optional(),
    preconfirmed: z.literal(true).optional(),
    userOperationReceipt: receipt.optional(),
  })
}

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
    ...z.object(hexLimits).partial().shape,
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
