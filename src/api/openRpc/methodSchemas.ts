import { z } from 'zod'
import type { PerDialect } from '../dialects/dialect.js'
import type { MethodName } from '../methods/methodList.js'
import {
  address,
  addressIn,
  bytes,
  bytesIn,
  classicNumber,
  decimal,
  draftIn,
  hexFees,
  hexQuantity,
  modeIn,
  operation,
  operationIn,
  operationMembersOut,
  partialIn,
  quantityIn,
  shortWordIn,
  stateOverrideIn,
  word,
  wordIn,
} from './parts.js'
import { classicReceipt, standardReceipt, statusWith } from './receipts.js'
import {
  classicSponsorship,
  paymasterAndFees,
  paymasterData,
  preview,
  quotes,
  standardSponsorship,
  stub,
  willingPolicies,
} from './sponsorships.js'

/** Parameters by position, for both dialects, and the results of each. */
export type MethodSchemas = {
  readonly params: readonly z.ZodType[]
  readonly result: z.ZodType | PerDialect<z.ZodType>
}

const fees = z.object(hexFees)
const tiers = z.object({ slow: fees, standard: fees, fast: fees })
const decimalFees = { maxPriorityFeePerGas: decimal, maxFeePerGas: decimal }
const decimalTier = z.object(decimalFees)

const bigNumber = z.object({ type: z.literal('BigNumber'), hex: bytes })
function estimateLimits(quantity: z.ZodType) {
  return {
    callGasLimit: quantity,
    verificationGasLimit: quantity,
    preVerificationGas: quantity,
    paymasterVerificationGasLimit: quantity.optional(),
    paymasterPostOpGasLimit: quantity.optional(),
  }
}
const classicEstimate = z.object({
  ...estimateLimits(classicNumber),
  validUntil: bigNumber,
  validAfter: bigNumber,
  ...decimalFees,
})
const standardEstimate = z.object({ ...estimateLimits(hexQuantity), ...hexFees })

function blockOf(quantity: z.ZodType) {
  return {
    entryPoint: address,
    blockNumber: quantity.nullable(),
    blockHash: word.nullable(),
    transactionHash: word.nullable(),
  }
}

const receiptTagIn = z.enum(['latest', 'pending']).nullable().optional()

/** ERC-7677 writes chain ids in hex; numbers are taken too. */
const paymasterParams = [partialIn, addressIn, quantityIn, modeIn.nullable().optional()]
const zeroDevIn = z.looseObject({
  chainId: quantityIn,
  userOp: partialIn,
  entryPointAddress: addressIn,
})

const blockNumberIn = z
  .union([
    z.enum(['latest', 'pending', 'safe', 'finalized', 'earliest']),
    z.string().regex(/^0[xX][0-9a-fA-F]{1,16}$/),
    z.int().min(0),
  ])
  .meta({ id: 'BlockNumber' })
/** EIP-1898. */
const blockIn = z
  .union([blockNumberIn, z.looseObject({ blockHash: wordIn })])
  .nullable()
  .optional()
const topicIn = z.union([z.null(), wordIn, z.array(wordIn).max(20)])
const callIn = z.strictObject({
  from: addressIn.optional(),
  to: addressIn.optional(),
  data: bytesIn.optional(),
  input: bytesIn.optional(),
  gas: quantityIn.optional(),
  value: quantityIn.optional(),
  gasPrice: quantityIn.optional(),
  maxFeePerGas: quantityIn.optional(),
  maxPriorityFeePerGas: quantityIn.optional(),
})
const logFilterIn = z.looseObject({
  address: z.union([addressIn, z.array(addressIn).min(1).max(20)]),
  topics: z.array(topicIn).max(4).optional(),
  fromBlock: blockNumberIn.nullable().optional(),
  toBlock: blockNumberIn.nullable().optional(),
  blockHash: wordIn.optional(),
})
const fromNode = z.unknown()
const done = z.literal('ok')

/** Every method's parameters and results: the compiler names a method without them. */
export const methodSchemas: Readonly<Record<MethodName, MethodSchemas>> = {
  'rpc.discover': { params: [], result: z.looseObject({ openrpc: z.string() }) },
  eth_chainId: { params: [], result: hexQuantity },
  eth_supportedEntryPoints: { params: [], result: z.array(address) },
  web3_clientVersion: { params: [], result: z.string() },
  eth_estimateUserOperationGas: {
    params: [draftIn, addressIn, stateOverrideIn.optional()],
    result: { classic: classicEstimate, standard: standardEstimate },
  },
  eth_sendUserOperation: {
    params: [
      operationIn,
      addressIn,
      z
        .looseObject({
          simulation_type: z.enum(['validation', 'validation_and_execution']).optional(),
        })
        .nullable()
        .optional(),
    ],
    result: word,
  },
  eth_getUserOperationReceipt: {
    params: [wordIn, receiptTagIn],
    result: { classic: classicReceipt.nullable(), standard: standardReceipt.nullable() },
  },
  eth_getUserOperationByHash: {
    params: [wordIn],
    result: {
      classic: z
        .object({
          ...operationMembersOut,
          userOperation: operation,
          ...blockOf(classicNumber),
        })
        .nullable(),
      standard: z.object({ userOperation: operation, ...blockOf(hexQuantity) }).nullable(),
    },
  },
  biconomy_getGasFeeValues: {
    params: [],
    result: z.object({
      ...decimalFees,
      slow: decimalTier,
      standard: decimalTier,
      fast: decimalTier,
    }),
  },
  biconomy_getUserOperationStatus: {
    params: [wordIn],
    result: { classic: statusWith(classicReceipt), standard: statusWith(standardReceipt) },
  },
  pm_sponsorUserOperation: {
    params: [partialIn, z.union([modeIn, addressIn]), modeIn.nullable().optional()],
    result: { classic: classicSponsorship, standard: standardSponsorship },
  },
  pm_getFeeQuoteOrData: {
    params: [partialIn, modeIn.nullable().optional()],
    result: {
      classic: z.union([quotes, classicSponsorship]),
      standard: z.union([quotes, standardSponsorship]),
    },
  },
  pm_getPaymasterStubData: { params: paymasterParams, result: stub },
  pm_getPaymasterData: { params: paymasterParams, result: paymasterData },
  debug_bundler_clearState: { params: [], result: done },
  debug_bundler_clearMempool: { params: [], result: done },
  debug_bundler_clearReputation: { params: [], result: done },
  debug_bundler_dumpMempool: { params: [addressIn], result: z.array(operation) },
  debug_bundler_addUserOps: { params: [z.array(operationIn), addressIn], result: done },
  debug_bundler_sendBundleNow: { params: [], result: done },
  debug_bundler_setBundlingMode: { params: [z.enum(['manual', 'auto'])], result: done },
  debug_bundler_setReputation: {
    params: [
      z.array(z.looseObject({ address: addressIn, opsSeen: quantityIn, opsIncluded: quantityIn })),
      addressIn,
    ],
    result: done,
  },
  debug_bundler_dumpReputation: {
    params: [addressIn],
    result: z.array(
      z.object({
        address,
        opsSeen: hexQuantity,
        opsIncluded: hexQuantity,
        status: z.enum(['0x0', '0x1', '0x2']),
      }),
    ),
  },
  debug_bundler_getStakeStatus: {
    params: [addressIn, addressIn],
    result: z.object({
      stakeInfo: z.object({ addr: address, stake: decimal, unstakeDelaySec: decimal }),
      isStaked: z.boolean(),
    }),
  },
  pm_validateSponsorshipPolicies: {
    params: [
      partialIn,
      addressIn,
      z.union([quantityIn, z.array(z.string().max(200)).max(100)]),
      modeIn.nullable().optional(),
    ],
    result: z.union([preview, willingPolicies]),
  },
  pimlico_getUserOperationGasPrice: { params: [], result: tiers },
  pimlico_getUserOperationStatus: {
    params: [wordIn],
    result: z.object({
      status: z.enum([
        'not_found',
        'not_submitted',
        'submitted',
        'included',
        'reverted',
        'rejected',
      ]),
      transactionHash: word.nullable(),
    }),
  },
  pimlico_getTokenQuotes: {
    params: [z.looseObject({ tokens: z.array(addressIn).max(100) }), addressIn, quantityIn],
    result: z.object({
      quotes: z.array(
        z.object({
          paymaster: address,
          token: address,
          postOpGas: hexQuantity,
          exchangeRate: hexQuantity,
          exchangeRateNativeToUsd: hexQuantity,
        }),
      ),
    }),
  },
  zd_getUserOperationGasPrice: { params: [], result: tiers },
  zd_sponsorUserOperation: {
    params: [
      zeroDevIn.extend({
        gasTokenData: z.looseObject({ tokenAddress: addressIn.optional() }).optional(),
        shouldOverrideFee: z.boolean().optional(),
        manualGasEstimation: z.boolean().optional(),
      }),
    ],
    result: paymasterAndFees,
  },
  rundler_maxPriorityFeePerGas: { params: [], result: hexQuantity },
  alchemy_requestGasAndPaymasterAndData: {
    params: [
      z.looseObject({
        entryPoint: addressIn,
        userOperation: partialIn,
        dummySignature: bytesIn.optional(),
        overrides: z.looseObject({}).nullable().optional(),
        webhookData: z.string().optional(),
      }),
    ],
    result: paymasterAndFees,
  },
  thirdweb_getUserOperationGasPrice: { params: [], result: fees },
  skandha_getGasPrice: { params: [], result: fees },
  stackup_getERC20TokenQuotes: {
    params: [zeroDevIn.extend({ tokenAddress: addressIn })],
    result: z.object({ maxGasCostToken: decimal, tokenDecimals: decimal }),
  },
  pm_accounts: { params: [addressIn], result: z.array(address) },
  eth_maxPriorityFeePerGas: { params: [], result: hexQuantity },
  eth_gasPrice: { params: [], result: hexQuantity },
  eth_feeHistory: {
    params: [
      z.union([z.int().min(1).max(128), z.string().regex(/^0x([1-9a-f]|[1-7][0-9a-f]|80)$/)]),
      blockNumberIn,
      z.array(z.number().min(0).max(100)).max(20).nullable().optional(),
    ],
    result: fromNode,
  },
  eth_blockNumber: { params: [], result: fromNode },
  eth_getBlockByNumber: {
    params: [blockNumberIn, z.boolean().optional()],
    result: fromNode,
  },
  eth_call: {
    params: [callIn, blockIn, stateOverrideIn.optional()],
    result: fromNode,
  },
  eth_getCode: { params: [addressIn, blockIn], result: fromNode },
  eth_getBalance: { params: [addressIn, blockIn], result: fromNode },
  eth_getTransactionCount: { params: [addressIn, blockIn], result: fromNode },
  eth_getStorageAt: { params: [addressIn, shortWordIn, blockIn], result: fromNode },
  eth_getTransactionReceipt: { params: [wordIn], result: fromNode },
  eth_getTransactionByHash: { params: [wordIn], result: fromNode },
  eth_getLogs: { params: [logFilterIn], result: fromNode },
}

/** The schema of a method's result in a dialect. */
export function resultSchema(name: MethodName, dialect: keyof PerDialect<unknown>): z.ZodType {
  const { result } = methodSchemas[name]
  return 'classic' in result ? result[dialect] : result
}
